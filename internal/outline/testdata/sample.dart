import 'x.dart';
typedef Cb = void Function(int);
abstract class A<T> extends B with C {
  final int x;
  static const max = 3;
  A(this.x);
  factory A.named() => A(1);
  int get y => "${x > 1 ? "}" : '{'}".length;
  @override
  Future<void> go({required int a}) async { }
  bool operator ==(Object o) => true;
}
mixin M { void m() {} }
extension E on String { int two() => 2; }
enum Color { red, green }
void main() { }
const top = 1;
