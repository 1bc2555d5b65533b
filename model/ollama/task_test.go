package ollama_test

import (
	"testing"

	"github.com/tackle-dev/tackle/model/ollama"
	"github.com/tackle-dev/tackle/tests/task"
)

func TestA1_RecordedTask(t *testing.T) { task.Run(t, ollama.Suite()) }
