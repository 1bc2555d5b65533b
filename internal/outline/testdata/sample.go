package a

type S struct {
	a int
}
type I interface{ M(x int) error }

const (
	A = iota
	B
)

func (s *S) Do(a int) error {
	return nil
}
func Gen[T any](t T) {}

var x = map[int]int{
	1: 2,
}
