package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/tackle-dev/tackle/mcp"
	"github.com/tackle-dev/tackle/tool"
)

// Smallest possible files of their kinds.
const (
	onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	silence  = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
)

func bytesOf(s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

type runFunc func(ctx context.Context, r tool.Runner) (tool.Result, error)

// fixture makes a tool whose run gets the arguments.
func fixture[In any](name string, run func(In) runFunc) tool.Tool {
	return tool.Define(tool.Spec{Name: name, Category: "fixture", Title: name, Description: "A fixture of the conformance runner."},
		func(_ context.Context, _ *tool.Call, in In) (tool.Action, error) {
			return tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Read}}, Run: run(in)}, nil
		})
}

type none struct{}

// always returns the same parts.
func always(name string, parts ...tool.Part) tool.Tool {
	return fixture(name, func(none) runFunc {
		return func(context.Context, tool.Runner) (tool.Result, error) { return tool.Result{Parts: parts}, nil }
	})
}

func text(format string, args ...any) (tool.Result, error) {
	return tool.TextResult(fmt.Sprintf(format, args...), nil), nil
}

// pause waits, or returns early with the reason when the call ends.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return tool.Errorf(tool.Cancelled, "%v", context.Cause(ctx))
	}
}

func roadTools() []tool.Tool {
	picture := tool.Part{Kind: tool.ImageKind, Data: bytesOf(onePixel), MIME: "image/png"}
	document := func(uri string) tool.Part {
		return tool.Part{Kind: tool.DocumentKind, URI: uri, Data: []byte("An embedded resource."), MIME: "text/plain"}
	}
	return append([]tool.Tool{
		always("test_simple_text", tool.Text("This is a simple text response for testing.")),
		always("test_image_content", picture),
		always("test_audio_content", tool.Part{Kind: tool.AudioKind, Data: bytesOf(silence), MIME: "audio/wav"}),
		always("test_embedded_resource", document("test://embedded-resource")),
		always("test_multiple_content_types", tool.Text("Text content"), picture, document("test://embedded-in-multiple")),
		fixture("test_error_handling", func(none) runFunc {
			return func(context.Context, tool.Runner) (tool.Result, error) {
				return tool.Result{}, tool.Errorf(tool.OperationFailed, "this fixture always fails.")
			}
		}),
		fixture("test_tool_with_progress", func(none) runFunc {
			return func(ctx context.Context, r tool.Runner) (tool.Result, error) {
				for _, n := range []float64{0, 50, 100} {
					r.Progress(n, 100, fmt.Sprintf("step %v", n))
					if err := pause(ctx, 50*time.Millisecond); err != nil {
						return tool.Result{}, err
					}
				}
				return text("done")
			}
		}),
	}, append(askTools(), taskTools()...)...)
}

func askTools() []tool.Tool {
	return []tool.Tool{
		fixture("test_elicitation", func(in struct {
			Message string `json:"message"`
		}) runFunc {
			return asking(in.Message, object(map[string]any{"username": str("name"), "email": str("address")}, "username", "email"))
		}),
		fixture("test_elicitation_sep1034_defaults", func(none) runFunc {
			return asking("Check the defaults", object(map[string]any{
				"name": with(str("name"), "default", "John Doe"), "age": map[string]any{"type": "integer", "default": 30},
				"score": map[string]any{"type": "number", "default": 95.5}, "verified": map[string]any{"type": "boolean", "default": true},
				"status": map[string]any{"type": "string", "enum": []string{"active", "inactive", "pending"}, "default": "active"},
			}))
		}),
		fixture("test_elicitation_sep1330_enums", func(none) runFunc { return asking("Choose", object(enums())) }),
	}
}

// enums are the five ways in which a form can offer a choice.
func enums() map[string]any {
	options := []string{"option1", "option2", "option3"}
	titled := []map[string]any{{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}, {"const": "value3", "title": "Third"}}
	return map[string]any{
		"untitledSingle": map[string]any{"type": "string", "enum": options},
		"titledSingle":   map[string]any{"type": "string", "oneOf": titled},
		"legacyEnum":     map[string]any{"type": "string", "enum": []string{"opt1", "opt2", "opt3"}, "enumNames": []string{"One", "Two", "Three"}},
		"untitledMulti":  map[string]any{"type": "array", "minItems": 1, "maxItems": 3, "items": map[string]any{"type": "string", "enum": options}},
		"titledMulti":    map[string]any{"type": "array", "minItems": 1, "maxItems": 3, "items": map[string]any{"anyOf": titled}},
	}
}

func str(description string) map[string]any {
	return map[string]any{"type": "string", "description": description}
}

func with(m map[string]any, key string, value any) map[string]any {
	m[key] = value
	return m
}

func object(properties map[string]any, required ...string) map[string]any {
	o := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
}

// asking asks the client's person and tells what came of it.
func asking(message string, schema map[string]any) runFunc {
	return func(ctx context.Context, _ tool.Runner) (tool.Result, error) {
		reply, err := mcp.Ask(ctx, message, schema)
		if err != nil {
			return tool.Result{}, tool.Errorf(tool.OperationFailed, "%v", err)
		}
		return text("User response: action=%s, content=%v", reply.Action, reply.Content)
	}
}

// becomes is longer than the time after which a call becomes a task here.
const becomes = time.Second

type seconds struct {
	Seconds int    `json:"seconds"`
	Label   string `json:"label,omitempty"`
}

func taskTools() []tool.Tool {
	confirm := object(map[string]any{"confirm": map[string]any{"type": "boolean"}})
	return []tool.Tool{
		fixture("greet", func(in struct {
			Name string `json:"name"`
		}) runFunc {
			return func(context.Context, tool.Runner) (tool.Result, error) { return text("Hello, %s!", in.Name) }
		}),
		fixture("slow_compute", func(in seconds) runFunc {
			return func(ctx context.Context, _ tool.Runner) (tool.Result, error) {
				if err := pause(ctx, time.Duration(in.Seconds)*time.Second); err != nil {
					return tool.Result{}, err
				}
				return text("computed for %d s", in.Seconds)
			}
		}),
		fixture("failing_job", func(none) runFunc {
			return after(func(context.Context) (tool.Result, error) {
				return tool.Result{}, tool.Errorf(tool.OperationFailed, "the job failed.")
			})
		}),
		fixture("protocol_error_job", func(none) runFunc {
			return after(func(context.Context) (tool.Result, error) {
				return tool.Result{}, tool.Fault(errors.New("the program failed"))
			})
		}),
		fixture("confirm_delete", func(in struct {
			Filename string `json:"filename,omitempty"`
		}) runFunc {
			return after(func(ctx context.Context) (tool.Result, error) {
				return asking("Delete "+in.Filename+"?", confirm)(ctx, nil)
			})
		}),
		fixture("multi_input", func(none) runFunc { return after(both(confirm)) }),
		fixture("test_tool_with_task", func(none) runFunc {
			return func(ctx context.Context, _ tool.Runner) (tool.Result, error) {
				reply, err := mcp.Ask(ctx, "What is your name?", object(map[string]any{"name": str("name")}, "name"))
				if err != nil {
					return tool.Result{}, tool.Errorf(tool.OperationFailed, "%v", err)
				}
				if err := pause(ctx, becomes); err != nil {
					return tool.Result{}, err
				}
				return text("done for %v", reply.Content["name"])
			}
		}),
	}
}

// after runs f when the call has become a task.
func after(f func(context.Context) (tool.Result, error)) runFunc {
	return func(ctx context.Context, _ tool.Runner) (tool.Result, error) {
		if err := pause(ctx, becomes); err != nil {
			return tool.Result{}, err
		}
		return f(ctx)
	}
}

// both asks two questions at once.
func both(schema map[string]any) func(context.Context) (tool.Result, error) {
	return func(ctx context.Context) (tool.Result, error) {
		failed := make(chan error, 2)
		for _, q := range []string{"First?", "Second?"} {
			go func() {
				_, err := mcp.Ask(ctx, q, schema)
				failed <- err
			}()
		}
		if err := errors.Join(<-failed, <-failed); err != nil {
			return tool.Result{}, tool.Errorf(tool.OperationFailed, "%v", err)
		}
		return text("both answered")
	}
}
