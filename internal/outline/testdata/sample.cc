GTEST_DISABLE_WARNINGS_(4251)
namespace testing {
class Message {
  Q_OBJECT
 public:
  Message();
  template <typename T> inline Message& operator <<(const T& val) { return *this; }
  explicit operator bool() const { return true; }
  Message(const Message&) = delete;
 private:
  std::unique_ptr<std::vector<int>> v_ = {};
};
Message& Message::operator <<(const wchar_t* w) { return *this; }
Message::Message() : ss_(new ::std::stringstream), n_{1, 2} { }
template <class R, class... A> struct Impl<R(A...), int> : Base<R(A...)> { R go(A... a) { } };
}  // namespace testing
int main(int argc, char** argv) { return sizeof(argv) ? 0 : 1; }
