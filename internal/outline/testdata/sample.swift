public struct Foo<T>: Bar where T: X {
  let a: Int
  var b: Int { return 1 }
  init(a: Int) { self.a = a }
  func go(_ x: Int = 1) throws -> Int { "\(x("}"))"; return 1 }
  static func + (l: Foo, r: Foo) -> Foo { l }
}
extension Foo: Q { mutating func e() {} }
protocol P { func need() -> Int
  var v: Int { get } }
enum E { case a, b }
func top() {}
let k = 3
