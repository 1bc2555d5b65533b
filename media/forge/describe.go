package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/tackle-dev/tackle/internal/pipe"
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/schema"
	"github.com/tackle-dev/tackle/tool"
)

// query is the composite tool.
func (f *forge) query() (*made, error) {
	verbs, err := f.grammar()
	if err != nil {
		return nil, err
	}
	str := func(s string) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Description: s} }
	ops := &jsonschema.Schema{Type: "array", Description: "Instead of q: the steps as objects", Items: object(map[string]*jsonschema.Schema{
		"verb": str("Verb"), "args": {Type: "object", Description: "Its arguments by name"},
	}, "verb")}
	return &made{
		def: tool.Definition{Name: QueryName, Title: "Work on media", Description: f.rules(), Example: f.example(),
			Schema: object(map[string]*jsonschema.Schema{"media_id": str(f.idHint()), "q": str(verbs), "ops": ops}, "media_id")},
		plan: f.planQuery,
	}, nil
}

func (f *forge) planQuery(ctx context.Context, call *tool.Call, raw json.RawMessage) (tool.Action, error) {
	var in struct {
		MediaID string          `json:"media_id"`
		Q       *string         `json:"q"`
		Ops     json.RawMessage `json:"ops"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return tool.Action{}, badRequest("the arguments cannot be read: %v.", err)
	}
	if string(in.Ops) == "null" || string(in.Ops) == "[]" {
		in.Ops = nil
	}
	in.MediaID = plainID(in.MediaID)
	if err := f.Pipeline.Find(ctx); err != nil {
		return tool.Action{}, err
	}
	var plan media.Plan
	var err error
	switch {
	case in.MediaID == "":
		return tool.Action{}, badRequest("media_id is missing.")
	case in.Q != nil && in.Ops != nil:
		return tool.Action{}, badRequest("both q and ops are given; one of them says what to do.")
	case in.Q != nil:
		plan, err = f.Pipeline.Compile(*in.Q)
	case in.Ops != nil:
		plan, err = f.Pipeline.CompileOps(in.Ops)
	default:
		return tool.Action{}, badRequest("neither q nor ops is given.")
	}
	if err != nil {
		return tool.Action{}, lineError(err)
	}
	return f.action(ctx, call, in.MediaID, plan, raw)
}

func (f *forge) example() string {
	for _, s := range f.examples() {
		if b, err := json.Marshal(map[string]string{"media_id": "a1b2", "q": s}); err == nil {
			return string(b)
		}
	}
	return `{"media_id": "a1b2", "q": "extract metadata"}`
}

// candidates are statements to show; those are shown whose verbs this deployment has.
var candidates = []string{
	`redact match=/\d{3}-\d{2}-\d{4}/ replace="[SSN]"`,
	`sheet update_cells sheet="Data" updates='[{"address":"B2","value":3}]'`,
	`image resize width=800 | image format to=webp`,
	`extract text | chunk size=800 overlap=80`,
	`select pages=1-3,5`,
	`data set path="server.port" value=8080`,
	`sheet add_rows rows='[["North",12]]' | convert to=csv`,
	`convert to=md`,
	`extract metadata`,
}

// examples are printed from plans, so they are what the parser reads.
func (f *forge) examples() []string {
	var out []string
	for _, s := range candidates {
		plan, err := f.Pipeline.Compile(s)
		if err != nil {
			continue
		}
		if text, err := f.Pipeline.Print(plan); err == nil && len(out) < 5 {
			out = append(out, text)
		}
	}
	return out
}

func (f *forge) idHint() string {
	s := "Id of a media: from a [media id: …] marker or " + f.listName
	if f.Files {
		s += "; file:PATH for a file of the workspace"
	}
	if len(f.creatable) > 0 {
		s += "; empty:FORMAT creates a new file"
	}
	return s
}

// rules writes the description: what the tool is for and how statements are written. Some providers take no more than 1024
// characters here, so the verbs stand with the argument q.
func (f *forge) rules() string {
	does := []string{"read"}
	verbs := f.Pipeline.Verbs()
	if slices.ContainsFunc(verbs, func(v pipe.Verb) bool { return v.ID != "convert" && v.Out != pipe.Read && v.Out != pipe.Data }) {
		does = append(does, "change")
	}
	if f.Pipeline.Available("convert") {
		does = append(does, "convert")
	}
	if len(f.creatable) > 0 {
		does = append(does, "create")
	}
	kept := ""
	if len(does) > 1 {
		kept = " A change never alters the original: its result is new media with its own id, for later calls."
	}
	return joinAnd(does) + " media by id. q is a statement: steps joined by |, each a verb with name=value arguments." + kept + "\n" +
		"- A list is comma-separated; numbers may be ranges: 1-3,5. Everything counts from 1.\n" +
		"- Quote text in \"…\" unless it is letters, digits and _; \\n in it is a line break. JSON stands in '…', a regular expression as /…/flags, other media as @id" + f.fileRule() + ".\n" +
		"- As tool arguments every backslash is doubled.\n" +
		"- Steps run in order, each on the result of the one before."
}

// joinAnd writes a list as the beginning of a sentence.
func joinAnd(words []string) string {
	s := words[0]
	for i, w := range words[1:] {
		if i == len(words)-2 {
			s += " and " + w
		} else {
			s += ", " + w
		}
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// grammar writes the description of q: the verbs of this deployment, what can be created, and examples.
func (f *forge) grammar() (string, error) {
	var b strings.Builder
	b.WriteString("Statement: verb name=value … | verb …\nVerbs:\n")
	for _, v := range f.Pipeline.Verbs() {
		b.WriteString("- " + f.line(v) + "\n")
	}
	if s := f.common(); s != "" {
		b.WriteString(s + "\n")
	}
	if s := f.creation(); s != "" {
		b.WriteString(s + "\n")
	}
	b.WriteString("Examples:\n")
	for _, s := range f.examples() {
		b.WriteString("- " + s + "\n")
	}
	for _, s := range f.examples() {
		if strings.Contains(s, `\`) {
			q, err := json.Marshal(map[string]string{"media_id": "a1b2", "q": s})
			if err != nil {
				return "", fmt.Errorf("media forge: %w", err)
			}
			b.WriteString("The same as tool arguments: " + string(q) + "\n")
			break
		}
	}
	return strings.TrimSpace(b.String()), nil
}

func (f *forge) fileRule() string {
	if f.Files {
		return ` or @"file:PATH"`
	}
	return ""
}

// line describes a verb: its signature as far as this deployment goes, and what it does.
func (f *forge) line(v pipe.Verb) string {
	s := v.Signature() + ": " + v.Doc
	if n := v.Notes(); n != "" {
		s += " (" + n + ")"
	}
	return s
}

// common describes the arguments that many verbs share.
func (f *forge) common() string {
	var out, seen []string
	for _, v := range f.Pipeline.Verbs() {
		for _, p := range v.Params {
			if p.Common && !slices.Contains(seen, p.Name) {
				seen = append(seen, p.Name)
				value := p.Sample
				if value == "" {
					value = "true"
				}
				out = append(out, p.Name+"="+value+": "+p.Doc)
			}
		}
	}
	if out == nil {
		return ""
	}
	return "Also, where it matters: " + strings.Join(out, "; ") + "."
}

func (f *forge) creation() string {
	if len(f.creatable) == 0 {
		return ""
	}
	s := "New files: media_id \"empty:<format>\" creates a blank one and runs the statement on it. Formats: " + strings.Join(f.creatable, ", ") + "."
	if slices.Contains(f.creatable, "xlsx") {
		s += " xlsx has one sheet, Sheet1."
	}
	if slices.Contains(f.creatable, "png") {
		s += " Pictures are white, 1024×1024; resize in the same statement."
	}
	return s
}

// verb is a granular tool.
func (f *forge) verb(v pipe.Verb) *made {
	props := map[string]*jsonschema.Schema{"media_id": {Type: "string", Description: f.idHint()}}
	required := []string{"media_id"}
	for i := range v.Params {
		p := v.Params[i]
		props[p.Name] = schemaOf(&p)
		if p.Required {
			required = append(required, p.Name)
		}
	}
	args := map[string]any{"media_id": "a1b2"}
	if plan, err := f.Pipeline.Compile(f.Pipeline.Language().Example(&v)); err == nil {
		for name, val := range plainArgs(plan) {
			args[name] = val
		}
	}
	example, err := json.Marshal(args)
	if err != nil {
		example = []byte(`{"media_id":"a1b2"}`)
	}
	text := strings.ToUpper(v.Doc[:1]) + v.Doc[1:] + "."
	switch v.Out {
	case pipe.One:
		text += " The result is new media with its own id; the original stays."
	case pipe.Many, pipe.Maybe:
		text += " The results are new media with ids."
	}
	if f.creatable != nil && v.Out == pipe.One {
		text += " " + f.creation()
	}
	return &made{
		def: tool.Definition{Name: toolName(v), Title: strings.ToUpper(v.ID[:1]) + strings.NewReplacer(".", " ", "_", " ").Replace(v.ID[1:]), Description: text, Example: string(example),
			Schema: schema.Mend(object(props, required...)), Annotations: tool.Annotations{ReadOnly: v.Out == pipe.Read || v.Out == pipe.Data}},
		plan: func(ctx context.Context, call *tool.Call, raw json.RawMessage) (tool.Action, error) {
			var args map[string]json.RawMessage
			if err := json.Unmarshal(raw, &args); err != nil {
				return tool.Action{}, badRequest("the arguments cannot be read: %v.", err)
			}
			var id string
			if err := json.Unmarshal(args["media_id"], &id); err != nil || plainID(id) == "" {
				return tool.Action{}, badRequest("media_id is missing.")
			}
			id = plainID(id)
			delete(args, "media_id")
			ops, err := json.Marshal([]any{map[string]any{"verb": v.ID, "args": args}})
			if err != nil {
				return tool.Action{}, badRequest("the arguments cannot be read: %v.", err)
			}
			plan, err := f.Pipeline.CompileOps(ops)
			if err != nil {
				return tool.Action{}, lineError(err)
			}
			return f.action(ctx, call, id, plan, raw)
		},
	}
}

// plainArgs returns the arguments of a plan's first step as a model would write them in JSON.
func plainArgs(p media.Plan) map[string]any {
	raw, err := json.Marshal(p)
	if err != nil {
		return nil
	}
	var steps []struct {
		Args map[string]json.RawMessage `json:"args"`
	}
	if json.Unmarshal(raw, &steps) != nil || len(steps) == 0 {
		return nil
	}
	out := map[string]any{}
	for name, v := range steps[0].Args {
		var wrapped map[string]json.RawMessage
		var ms []any
		switch {
		case json.Unmarshal(v, &wrapped) == nil && wrapped["$json"] != nil:
			out[name] = wrapped["$json"]
		case name == "match" && json.Unmarshal(v, &ms) == nil:
			for i, m := range ms {
				if re, ok := m.(map[string]any); ok && re["regex"] != nil {
					ms[i] = fmt.Sprintf("/%v/%v", re["regex"], re["flags"])
				}
			}
			out[name] = ms
		default:
			out[name] = v
		}
	}
	return out
}

// shapes are the forms of arguments that are JSON, by name; an array or object within a value is written as JSON text.
func shapes() map[string]*jsonschema.Schema {
	scalar := func() *jsonschema.Schema {
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, {Type: "number"}, {Type: "boolean"}, {Type: "null"}}}
	}
	list := func(item *jsonschema.Schema) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "array", Items: item}
	}
	str, whole := func() *jsonschema.Schema { return &jsonschema.Schema{Type: "string"} }, func() *jsonschema.Schema { return &jsonschema.Schema{Type: "integer"} }
	nameOrNumber := func() *jsonschema.Schema { return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{str(), whole()}} }
	value := scalar()
	value.Description = "an object or array as JSON text"
	return map[string]*jsonschema.Schema{
		"rows":     list(list(scalar())),
		"updates":  list(object(map[string]*jsonschema.Schema{"address": str(), "row": whole(), "col": nameOrNumber(), "value": scalar()}, "value")),
		"columns":  list(object(map[string]*jsonschema.Schema{"header": str(), "values": list(scalar())})),
		"rename":   list(object(map[string]*jsonschema.Schema{"from": str(), "to": str()}, "from", "to")),
		"order":    list(nameOrNumber()),
		"ranges":   list(list(whole())),
		"data":     list(list(scalar())),
		"fragment": {Type: "object"},
		"value":    value,
	}
}

func schemaOf(p *pipe.Param) *jsonschema.Schema {
	s := &jsonschema.Schema{Description: p.Doc}
	if p.Default != "" {
		s.Description = strings.TrimPrefix(s.Description+"; default "+p.Default, "; ")
	}
	list := func(item *jsonschema.Schema) {
		s.Type, s.Items = "array", item
	}
	enum := func(values []string) (out []any) {
		for _, v := range values {
			out = append(out, v)
		}
		return out
	}
	switch p.Type {
	case pipe.Number:
		s.Type = "number"
		if p.Whole {
			s.Type = "integer"
		}
		lo, hi := p.Min, p.Max
		if lo != 0 || hi != 0 {
			s.Minimum, s.Maximum = &lo, &hi
			s.Description = strings.TrimPrefix(fmt.Sprintf("%s; %.0f–%.0f", s.Description, lo, hi), "; ")
		}
	case pipe.Bool:
		s.Type = "boolean"
	case pipe.Numbers:
		lo := p.Min
		list(&jsonschema.Schema{Type: "integer", Minimum: &lo, Description: fmt.Sprintf("at least %.0f", lo)})
	case pipe.Texts:
		item := &jsonschema.Schema{Type: "string"}
		item.Enum = enum(p.Enum)
		list(item)
	case pipe.Matches:
		list(&jsonschema.Schema{Type: "string"})
		s.Description = strings.TrimPrefix(s.Description+"; texts, or /regex/flags", "; ")
	case pipe.MediaList:
		list(&jsonschema.Schema{Type: "string"})
		s.Description = "ids of media"
	case pipe.Media:
		s.Type, s.Description = "string", "id of a media"
	case pipe.Name:
		s.AnyOf = []*jsonschema.Schema{{Type: "string"}, {Type: "integer"}}
	case pipe.JSON, pipe.Any:
		if shape, ok := shapes()[p.Name]; ok {
			shape.Description = strings.TrimPrefix(strings.Join([]string{s.Description, shape.Description}, "; "), "; ")
			return shape
		}
	default:
		s.Type, s.Enum = "string", enum(p.Enum)
	}
	return s
}
