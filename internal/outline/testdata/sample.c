#include <x.h>
#define FOO(a, b) \
  do { } while (0)
#define GUARD_H
struct point { int x, y; };
typedef struct { int a; } pair_t;
typedef int (*cb)(void);
static const struct file_operations fops = {
	.open = x,
};
struct point *mk(int x);
static inline __attribute__((unused)) int
add(int a, int b)
{
	if (a) { return '{'; }
	return a + b;
}
#ifdef A
int f(void) {
#else
int f(int x) {
#endif
	return 1;
}
MODULE_LICENSE("GPL");
EXPORT_SYMBOL(f);
SYSCALL_DEFINE3(read, int, fd)
{
}
struct point *mk2(void) { return 0; }
enum color { RED, GREEN };
#if 0
int dead(void) {
#endif
int alive(void) { return 0; }
extern int proto(int, char *);
