package gemini_test

import (
	"testing"

	"github.com/tackle-dev/tackle/model/gemini"
	"github.com/tackle-dev/tackle/tests/task"
)

func TestA1_RecordedTask(t *testing.T) { task.Run(t, gemini.Suite()) }
