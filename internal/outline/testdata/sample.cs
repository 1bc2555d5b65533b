using System;
namespace A.B;
[Attr("{")]
public partial class Foo<T> : Bar, IBaz where T : new() {
  public int X { get; set; } = 3;
  public const int K = 1;
  private readonly string s = @"a""{";
  public Foo(int a) : base(a) { }
  public async Task<int> Go(int a) => await X(a);
  public override string ToString() { return $"{X}"; }
  public static bool operator ==(Foo a, Foo b) { return true; }
}
public record R(int A, int B);
public interface I { void M(); }
