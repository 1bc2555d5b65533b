package patch

import (
	"testing"

	"github.com/tackle-dev/tackle/change"
)

// F5: the byte order mark of a file is there once after a patch, shown or not, and goes where a hunk that shows it says.
func TestF5_ByteOrderMark(t *testing.T) {
	for _, c := range []struct{ name, file, hunk, want string }{
		{"shown in both lines", "\ufeffa\nb\n", "@@ -1,2 +1,2 @@\n-\ufeffa\n+\ufeffc\n b\n", "\ufeffc\nb\n"},
		{"shown in context", "\ufeffa\nb\n", "@@ -1,2 +1,2 @@\n \ufeffa\n-b\n+c\n", "\ufeffa\nc\n"},
		{"not shown", "\ufeffa\nb\n", "@@ -1,2 +1,2 @@\n-a\n+c\n b\n", "\ufeffc\nb\n"},
		{"shown in the new line only", "\ufeffa\nb\n", "@@ -1,2 +1,2 @@\n-a\n+\ufeffc\n b\n", "\ufeffc\nb\n"},
		{"taken away", "\ufeffa\nb\n", "@@ -1,2 +1,2 @@\n-\ufeffa\n+c\n b\n", "c\nb\n"},
		{"taken away with its line", "\ufeffa\nb\n", "@@ -1,2 +1 @@\n-\ufeffa\n b\n", "b\n"},
		{"a line before it, which is not shown", "\ufeffa\nb\n", "@@ -1,2 +1,3 @@\n+x\n a\n b\n", "\ufeffx\na\nb\n"},
		{"a line before it, which is shown", "\ufeffa\nb\n", "@@ -1,2 +1,3 @@\n+x\n \ufeffa\n b\n", "x\n\ufeffa\nb\n"},
		{"moved to a line before it", "\ufeffa\nb\n", "@@ -1,2 +1,3 @@\n+\ufeffx\n-\ufeffa\n+a\n b\n", "\ufeffx\na\nb\n"},
		{"shown without a number", "\ufeffa\nb\n", "@@\n-\ufeffa\n+\ufeffc\n b\n", "\ufeffc\nb\n"},
		{"shown and not there, at another indentation", "\ta\n", "@@\n-\ufeffa\n+\ufeffc\n", "\tc\n"},
		{"brought", "a\nb\n", "@@ -1,2 +1,2 @@\n-a\n+\ufeffa\n b\n", "\ufeffa\nb\n"},
		{"shown and not there", "a\nb\n", "@@ -1,2 +1,2 @@\n-\ufeffa\n+\ufeffc\n b\n", "c\nb\n"},
		{"files that were joined", "\ufeffa\nb\n\ufeffa\nb\n", "@@\n-\ufeffa\n+\ufeffc\n b\n", "\ufeffa\nb\n\ufeffc\nb\n"},
		{"the first of files that were joined", "\ufeffa\nb\n\ufeffa\nb\n", "@@ -1,2 +1,2 @@\n-\ufeffa\n+\ufeffc\n b\n", "\ufeffc\nb\n\ufeffa\nb\n"},
		{"two", "\ufeff\ufeffa\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "\ufeff\ufeffa\nc\n"},
		{"UTF-16", "\xff\xfea\x00\n\x00b\x00\n\x00", "@@ -1,2 +1,2 @@\n-\ufeffa\n+\ufeffc\n b\n", "\xff\xfec\x00\n\x00b\x00\n\x00"},
		{"UTF-16 needs it", "\xff\xfea\x00\n\x00b\x00\n\x00", "@@ -1,2 +1,2 @@\n-\ufeffa\n+c\n b\n", "\xff\xfec\x00\n\x00b\x00\n\x00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world{root + "/f": change.FileState([]byte(c.file), 0o644)}
			res, err := Plan(parse(t, "--- a/f\n+++ b/f\n"+c.hunk), w, Options{})
			if err != nil {
				t.Fatal(err)
			}
			after, err := w.commit(&res.Set)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := after[root+"/f"].Blob.Bytes(); string(got) != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
