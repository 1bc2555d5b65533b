package media

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// Limits bound what one run may take. In each field 0 means the default.
type Limits struct {
	Bytes    int64         // of one media, in or out. Default 256 MiB
	Unpacked int64         // of what a container holds when it is decoded, all members together. Default 1 GiB
	Members  int           // of a container. Default 20,000
	Ratio    int64         // decoded bytes to encoded ones, of one member above 1 MiB. Default 250
	Pixels   int           // of one picture. Default 100 million
	Frames   int           // of an animation or of pages in one picture file. Default 1,000
	Pages    int           // of a document. Default 10,000
	Depth    int           // of nesting in JSON, YAML and XML. Default 200
	Cells    int           // of a table that is read whole. Default 5 million
	Sound    time.Duration // that one sound may last. Default 6 hours
	Time     time.Duration // of one run. Default 2 minutes
	Match    time.Duration // of one regular expression on one text. Default 2 seconds

	run context.Context // see During
}

// During returns the limits for work that ends with a context. The pipeline gives them to its engines.
func (l Limits) During(ctx context.Context) Limits {
	l.run = ctx
	return l
}

// Err returns the error of the context of the work, once it has ended. What goes through much of a file looks at it every
// few thousand steps, so that a run that nobody waits for ends soon.
func (l *Limits) Err() error {
	if l.run == nil {
		return nil
	}
	return l.run.Err()
}

// WithDefaults returns the limits with every field set.
func (l Limits) WithDefaults() Limits {
	l.Bytes = cmp.Or(l.Bytes, 256<<20)
	l.Unpacked = cmp.Or(l.Unpacked, 1<<30)
	l.Members = cmp.Or(l.Members, 20_000)
	l.Ratio = cmp.Or(l.Ratio, 250)
	l.Pixels = cmp.Or(l.Pixels, 100_000_000)
	l.Frames = cmp.Or(l.Frames, 1000)
	l.Pages = cmp.Or(l.Pages, 10_000)
	l.Depth = cmp.Or(l.Depth, 200)
	l.Cells = cmp.Or(l.Cells, 5_000_000)
	l.Sound = cmp.Or(l.Sound, 6*time.Hour)
	l.Time = cmp.Or(l.Time, 2*time.Minute)
	l.Match = cmp.Or(l.Match, 2*time.Second)
	return l
}

// Check refuses a media that is too large.
func (l *Limits) Check(p *Payload) error {
	if int64(len(p.Data)) > l.Bytes {
		return Failf("%s has %d bytes, more than the %d that are allowed.", p.Name, len(p.Data), l.Bytes)
	}
	return nil
}

// CheckPixels refuses a picture by the size in its header.
func (l *Limits) CheckPixels(width, height int) error {
	if width <= 0 || height <= 0 || width > l.Pixels/height {
		return Failf("the picture has %d×%d pixels, more than the %d million that are allowed.", width, height, l.Pixels/1_000_000)
	}
	return nil
}

// Failf returns a failure of a step. The text is for the model: the fact, and what to do.
func Failf(format string, args ...any) *Error {
	return &Error{Code: StepFailed, Message: fmt.Sprintf(format, args...)}
}

// Refusef returns a failure of a step that no other arguments will mend.
func Refusef(format string, args ...any) *Error {
	e := Failf(format, args...)
	e.Code, e.Final = UnsupportedOp, true
	return e
}
