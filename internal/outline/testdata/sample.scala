package x
import a.{b, c}
case class P(a: Int, b: String)
trait T { def need(a: Int): Int; def given: Int = 1 }
object O extends T {
  val k = 3
  def need(a: Int): Int = {
    a + 1
  }
  private def `odd name`(x: Char = '{') = x
  type Alias = Map[Int, Int]
}
class C[A <: B](val a: A) extends D {
  override def toString = s"}"
}
