package session

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/tool/tooltest"
)

// saying is a model that says one thing, and keeps what it was asked.
type saying struct {
	words string
	asked *model.Request
}

func (s saying) Info() model.Info { return model.Info{Provider: "test", Name: "small"} }

func (s saying) Stream(_ context.Context, req model.Request, _ func(model.Piece) error) (model.Answer, error) {
	if s.asked != nil {
		*s.asked = req
	}
	if s.words == "fail" {
		return model.Answer{}, &model.Error{Class: model.Unauthorized, Provider: "test", Message: "no key"}
	}
	p := content.TextPart(s.words)
	return model.Answer{Message: model.Message{Role: model.Assistant, Blocks: []model.Block{{Part: &p}}}}, nil
}

func opening(_ context.Context, session string) (string, error) {
	switch session {
	case "empty":
		return " ", nil
	}
	return "Make the tests pass, please.", nil
}

func TestContract(t *testing.T) {
	tooltest.Run(t, Title{Opening: opening}.Tool(), tooltest.World{Good: []string{`{"session": "s"}`}, Bad: map[string]tool.Code{`{"session": "empty"}`: tool.NotFound}})
}

// T8: a title comes from a model, cleaned, or from the first words; one that a model does not give fails as the call's error.
func TestT8_Title(t *testing.T) {
	var asked model.Request
	for _, c := range []struct {
		model model.Model
		want  string
		kept  bool
		code  tool.Code
	}{
		{nil, "Make the tests pass, please.", false, ""},
		{saying{"\"Tests that pass\".\n", &asked}, "Tests that pass", true, ""},
		{saying{" \n", nil}, "", false, tool.ExecutionFailed},
		{saying{"fail", nil}, "", false, tool.ExecutionFailed},
	} {
		kept := ""
		tl := Title{Opening: opening, Keep: func(_ context.Context, session, title string) error { kept = session + ": " + title; return nil },
			Model: func() model.Model { return c.model }}
		a, err := tl.plan(t.Context(), nil, titleInput{Session: "s"})
		if err != nil {
			t.Fatal(err)
		}
		res, err := a.Run(t.Context(), nil)
		var failed *tool.Error
		if errors.As(err, &failed) != (c.code != "") || failed != nil && failed.Code != c.code {
			t.Errorf("%v: %v", c.model, err)
		}
		if got := res.Text(); got != c.want || (kept == "s: "+c.want) != c.kept {
			t.Errorf("%v: %q, kept %q", c.model, got, kept)
		}
	}
	part := asked.Messages[0].Blocks[0].Part
	if len(asked.Tools) != 0 || !strings.HasPrefix(part.Text, "<conversation>\nMake the tests") || asked.Session == "s" {
		t.Errorf("the model was asked %+v", asked)
	}
}
