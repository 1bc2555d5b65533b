package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tackle-dev/tackle/internal/store"
)

// TodoStatus says how far a todo is.
type TodoStatus string

// The states of a todo.
const (
	TodoPending   TodoStatus = "pending"
	TodoActive    TodoStatus = "in_progress"
	TodoDone      TodoStatus = "completed"
	TodoCancelled TodoStatus = "cancelled"
)

// Todo is one thing that a session means to do.
type Todo struct {
	Content string     `json:"content"`
	Status  TodoStatus `json:"status"`
}

// Todos keeps the list of each session. It is safe for concurrent use.
type Todos struct{ Records store.Records }

const todoSpace = "todo"

// Load returns the list of a session, which is empty where there is none.
func (t Todos) Load(ctx context.Context, session string) ([]Todo, error) {
	rec, err := t.Records.Get(ctx, todoSpace, session)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("todos of session %s: %w", session, err)
	}
	var list []Todo
	if err := json.Unmarshal(rec.Body, &list); err != nil {
		return nil, fmt.Errorf("todos of session %s: %w", session, err)
	}
	return list, nil
}

// Save puts a list in the place of what there was.
func (t Todos) Save(ctx context.Context, session string, list []Todo) error {
	if len(list) == 0 {
		return t.Records.Unset(ctx, todoSpace, session)
	}
	body, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if err := t.Records.Set(ctx, store.Record{Space: todoSpace, Key: session, Owner: session, Body: body}); err != nil {
		return fmt.Errorf("todos of session %s: %w", session, err)
	}
	return nil
}
