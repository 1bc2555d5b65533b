package query

import (
	"context"
	"errors"
	"fmt"
	"runtime/metrics"
	"strings"
	"time"

	"github.com/itchyny/gojq"
)

// memoryBound is how many bytes of heap a jq program may bring about beyond the document that it works on.
const memoryBound = 1 << 30

var errMemory = errors.New("it needs too much memory")

func filter(ctx context.Context, d *document, q Query) (Answer, error) {
	if strings.TrimSpace(q.Program) == "" {
		return Answer{}, invalid("jq", `for example jq=".items[] | select(.size > 10) | .name"`, "filter needs a jq program")
	}
	code, err := compileJQ(q.Program)
	if err != nil {
		return Answer{}, err
	}
	if d.format != JSONLines { // before the clock and the memory count
		if _, err := d.decode(q); err != nil {
			return Answer{}, err
		}
	}
	ctx, stop := guard(ctx, q.Timeout)
	defer stop()
	c := &collector{q: q}
	st, err := d.records(ctx, q, func(line int64, v any) (bool, error) {
		results := code.RunWithContext(ctx, v)
		for {
			r, ok := results.Next()
			if !ok {
				return false, nil
			}
			if err, ok := r.(error); ok {
				var halt *gojq.HaltError
				if errors.As(err, &halt) && halt.Value() == nil {
					return true, nil
				}
				return true, jqError(ctx, q, line, err)
			}
			if !c.add(line, "", r) {
				return true, nil
			}
		}
	})
	if err != nil {
		if ctx.Err() != nil {
			err = jqError(ctx, q, 0, err)
		}
		return Answer{}, err
	}
	if c.seen == 0 {
		return Answer{Text: "The program gives no values." + st.note(), Data: Values{Values: []Value{}}}, nil
	}
	return c.finish(q, st, false, nil)
}

// compileJQ makes a program that sees nothing but its input: no files, modules or environment.
func compileJQ(program string) (*gojq.Code, error) {
	parsed, err := gojq.Parse(program)
	if err != nil {
		var pe *gojq.ParseError
		at := ""
		if errors.As(err, &pe) {
			at = fmt.Sprintf(" before character %d", len([]rune(program[:min(pe.Offset, len(program))]))+1)
		}
		return nil, invalid("jq", "mend the program", "%s is not a jq program: %v%s", quote(program), err, at)
	}
	code, err := gojq.Compile(parsed)
	if err != nil {
		return nil, invalid("jq", "mend the program", "the jq program %s cannot run: %v", quote(program), err)
	}
	return code, nil
}

func jqError(ctx context.Context, q Query, line int64, err error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errMemory):
		return &Error{Code: CodeTimedOut, Field: "jq", Message: fmt.Sprintf("the jq program was stopped: it needs more than %d MB beside the document", memoryBound>>20), Hint: "give fewer values, for example with limit(100; …)"}
	case errors.Is(cause, context.DeadlineExceeded):
		return &Error{Code: CodeTimedOut, Field: "jq", Message: fmt.Sprintf("the jq program was stopped after %v", q.Timeout), Hint: "narrow it, or look at a slice first"}
	case cause != nil:
		return cause
	}
	where := ""
	if line > 0 {
		where = fmt.Sprintf(" at line %d", line)
	}
	return invalid("jq", "test the type first, as in (.x | strings), or use .x?", "the jq program fails%s: %v", where, err)
}

// guard bounds the time and the memory of what runs under the context. stop waits for its goroutine.
func guard(ctx context.Context, timeout time.Duration) (_ context.Context, stop func()) {
	ctx, cancelTime := context.WithTimeout(ctx, timeout)
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		start := heap()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if heap() > start+memoryBound {
					cancel(errMemory)
					return
				}
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		cancelTime()
		<-done
	}
}

func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
