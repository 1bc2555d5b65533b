package anthropic_test

import (
	"testing"

	"github.com/tackle-dev/tackle/model/anthropic"
	"github.com/tackle-dev/tackle/tests/task"
)

func TestA1_RecordedTask(t *testing.T) { task.Run(t, anthropic.Suite()) }
