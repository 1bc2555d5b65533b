package x.y;
import java.util.*;
@Entity(name = "x{")
public class Foo<T extends Bar> extends Baz implements Q {
  private static final int MAX = 3;
  private final Map<String, List<T>> m = new HashMap<>() {{ put("a", 1); }};
  static { init(); }
  public Foo(int x) { this.x = x; }
  @Override public <R> List<R> map(Function<T, R> f) throws IOException { return null; }
  abstract int go(int a);
  interface In { void run(); default int two() { return 2; } }
  enum Color { RED(1) { int f() { return 1; } }, GREEN; Color(int x) {} int f() { return 0; } }
  record Point(int x, int y) { Point { } int sum() { return x + y; } }
  String s = """
     } class Not {
  """;
  int[] arr() { return new int[] {1, 2}; }
}
@interface Anno { String value() default ""; }
