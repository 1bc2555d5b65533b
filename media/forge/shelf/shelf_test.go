package shelf

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/tackle-dev/tackle/artifact"
	"github.com/tackle-dev/tackle/internal/store"
)

// M4: a session sees its own media only, whatever its name and however an id is written.
func TestM4_OtherSessionsAreNotSeen(t *testing.T) {
	mem := &store.Memory{}
	s := New(mem, artifact.New(mem, mem, artifact.Options{}), nil)
	it, err := s.Attach(t.Context(), "main/child", "a.csv", "", []byte("a,b\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, data, err := s.Open(t.Context(), "main/child", it.ID); err != nil || got.Filename != "a.csv" || string(data) != "a,b\n" {
		t.Errorf("%+v %q %v", got, data, err)
	}
	for _, q := range [][2]string{{"main", it.ID}, {"main", "child/" + it.ID}, {"other", it.ID}, {"main/child", "none"}, {"main/child", ""}} {
		if _, _, err := s.Open(t.Context(), q[0], q[1]); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("session %q, id %q: %v", q[0], q[1], err)
		}
	}
	for _, session := range []string{"main", ""} {
		if list, err := s.List(t.Context(), session); err != nil || len(list) != 0 {
			t.Errorf("session %q: %+v, %v", session, list, err)
		}
	}
}
