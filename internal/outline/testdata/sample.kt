package x
data class P(val a: Int, val b: String = "${"x}"}")
class Foo<T>(val a: Int) : Bar(a), Baz {
    companion object { const val K = 1
        fun create() = Foo(1) }
    override fun go(x: Int): Int = x + 1
    fun <R> T.ext(b: (R) -> Unit) { }
    init { println("x") }
}
object Single
fun top() = 3
val x = 1
typealias A = Map<Int, Int>
sealed interface S { fun m() }
enum class E { A, B; fun f() = 1 }
