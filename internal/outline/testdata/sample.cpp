namespace a::b {
template <typename T = int, class U> class EXPORT Foo final : public Bar<T> {
 public:
  Foo(int x) : x_(x), y_{x} { g(); }
  ~Foo() {}
  virtual int get() const noexcept override { return x_; }
  bool operator==(const Foo& o) const { return true; }
  static Foo make();
  int x_ = 3;
  enum class Kind { A, B };
  struct Inner { void go() {} };
};
}
template <class T> int Foo<T>::get2(int a) const { return 1; }
int a::b::Foo::make() { return R"x( } )x"[0]; }
extern "C" { void cfun(int a) { } }
namespace { int hidden() { return 1'000; } }
using Vec = std::vector<int>;
auto lam = [](int x) { return x; };
TEST(Foo, Bar) { }
std::map<int, std::string> table(int n) { return {}; }
