package openai_test

import (
	"testing"

	"github.com/tackle-dev/tackle/model/modeltest"
	"github.com/tackle-dev/tackle/model/openai"
	"github.com/tackle-dev/tackle/tests/task"
)

func TestA1_RecordedTask(t *testing.T) {
	for name, suite := range openai.Suites() {
		t.Run(name, func(t *testing.T) { task.Run(t, suite) })
	}
}

// A token is shown within 50 ms of its arrival.
func BenchmarkToken(b *testing.B) {
	for name, suite := range openai.Suites() {
		b.Run(name, func(b *testing.B) { modeltest.Bench(b, suite) })
	}
}
