package tackle

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tackle-dev/tackle/tool"
)

// PlanFile is a plan of the workspace.
type PlanFile struct {
	Path  string `json:"path"`  // below .tackle/plans, with slashes
	Title string `json:"title"` // its first heading, or ""
	Bytes int64  `json:"bytes"`
	Time  string `json:"time"` // when it was changed, RFC 3339
}

// Plans lists the plans of the workspace, by name.
func (b *Box) Plans(ctx context.Context) ([]PlanFile, error) {
	var out []PlanFile
	res, err := b.planCall(ctx, "plan_list", map[string]any{})
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(res.Data)
	if err != nil {
		return nil, err
	}
	return out, json.Unmarshal(data, &out)
}

// PlanText returns the text of a plan, as the tool gives it to a model.
// Errors: *tool.Error, such as NOT_FOUND.
func (b *Box) PlanText(ctx context.Context, name string) (string, error) {
	res, err := b.planCall(ctx, "plan_read", map[string]any{"path": name})
	if err != nil {
		return "", err
	}
	return res.Text(), nil
}

// planCall calls a tool over plans in the mode that has them.
func (b *Box) planCall(ctx context.Context, name string, args map[string]any) (tool.Result, error) {
	req := NewRequest(name, args)
	req.Mode = planMode
	res, err := b.Call(ctx, req)
	switch {
	case err != nil:
		return res, err
	case res.Err != nil:
		return res, res.Err
	case res.Denied != nil:
		return res, fmt.Errorf("plans: %s", res.Text())
	}
	return res, nil
}

// planMode is the built-in mode that has the tools over plans.
const planMode = "plan"
