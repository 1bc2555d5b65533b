package media

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/internal/pipe"
	"github.com/tackle-dev/tackle/internal/text"
)

// RunOptions are for one run.
type RunOptions struct {
	// Resolve replaces the pipeline's.
	Resolve Resolver
	// Progress is told before each step: how many are done, of how many, and what is next.
	Progress func(done, total int, next string)
}

// run is one run of a plan.
type run struct {
	p    *Pipeline
	plan Plan
	opt  RunOptions
}

// Run carries out a plan on a media. Errors: *Error, the error of the context, what Resolve returned, or what an
// interceptor or selection stage returned.
func (p *Pipeline) Run(ctx context.Context, in Payload, plan Plan, opt RunOptions) (Result, error) {
	if len(plan.Steps) == 0 {
		return Result{}, &Error{Code: BadArg, Message: "the plan has no steps."}
	}
	for i := range plan.Steps {
		if s := &plan.Steps[i]; !p.Available(s.Verb) {
			return Result{}, p.engineMissing(i, s, fmt.Sprintf("%s has no engine here.", words(s.Verb)))
		}
	}
	in = Identify(in)
	if err := p.cfg.Limits.Check(&in); err != nil {
		return Result{}, err
	}
	outer := ctx
	ctx, cancel := context.WithTimeout(ctx, p.cfg.Limits.Time)
	defer cancel()
	r := &run{p: p, plan: plan, opt: opt}
	res, err := r.steps(ctx, in)
	if err != nil && ctx.Err() != nil && outer.Err() == nil {
		return Result{}, Failf("it took longer than the %v that are allowed. Work on a smaller part.", p.cfg.Limits.Time)
	}
	return res, err
}

func (r *run) steps(ctx context.Context, in Payload) (Result, error) {
	var warnings []string
	var counts Counts
	steps := r.plan.Steps
	for i := 0; i < len(steps); {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		n := 1
		if isImage(&steps[i]) {
			for i+n < len(steps) && isImage(&steps[i+n]) {
				n++
			}
		}
		if r.opt.Progress != nil {
			r.opt.Progress(i, len(steps), words(steps[i].Verb))
		}
		res, err := r.intercepted(ctx, i, n, in)
		if err != nil {
			return Result{}, r.failed(i, err)
		}
		warnings = append(warnings, res.Warnings...)
		counts.Added, counts.Removed, counts.Modified = counts.Added+res.Counts.Added, counts.Removed+res.Counts.Removed, counts.Modified+res.Counts.Modified
		if err := r.checkOutput(&res); err != nil {
			return Result{}, r.failed(i, err)
		}
		i += n
		if i == len(steps) {
			res.Warnings, res.Counts = warnings, counts
			return res, nil
		}
		if in, err = passOn(&steps[i-1], in, &res); err != nil {
			return Result{}, r.failed(i-1, err)
		}
	}
	panic("a plan without steps was refused")
}

func isImage(s *Step) bool { return strings.HasPrefix(s.Verb, "image.") }

// passOn gives the next step its media; text that was read becomes a text file.
func passOn(s *Step, in Payload, res *Result) (Payload, error) {
	switch {
	case res.Media != nil:
		return *res.Media, nil
	case res.Read != nil && res.Read.Text != "":
		return Payload{Data: []byte(res.Read.Text), MIME: "text/plain", Name: Renamed(in.Name, "txt")}, nil
	case res.Read != nil:
		return Payload{}, Failf("it read nothing, so the next step has nothing to work on.")
	}
	return Payload{}, Failf("it gave %d files, and the next step takes one. Let %s be the last step.", len(res.List), words(s.Verb))
}

// failed makes an error of a step one that names it.
func (r *run) failed(i int, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		var foreign *foreignError
		if errors.As(err, &foreign) {
			return foreign.error
		}
		e = Failf("%v.", strings.TrimSuffix(err.Error(), "."))
	}
	if e.Step != 0 {
		return e
	}
	c := *e
	c.Step = i + 1
	if c.Verb == "" {
		c.Verb = r.plan.Steps[i].Verb
	}
	if c.Code == StepFailed && !strings.HasPrefix(c.Message, words(r.plan.Steps[i].Verb)+":") {
		c.Message = words(r.plan.Steps[i].Verb) + ": " + c.Message
	}
	return &c
}

// foreignError is an error of a resolver or interceptor that passes as it is.
type foreignError struct{ error }

// checkOutput holds engines to what they promise.
func (r *run) checkOutput(res *Result) error {
	if res.empty() {
		return Failf("it gave nothing.")
	}
	list := res.List
	if res.Media != nil {
		list = []Payload{*res.Media}
	}
	for i := range list {
		p := &list[i]
		if p.MIME == "" || p.Name == "" || p.Data == nil {
			return Failf("an engine gave a file without bytes, type or name.")
		}
		if err := r.p.cfg.Limits.Check(p); err != nil {
			return err
		}
	}
	return nil
}

// intercepted runs steps [i, i+n) within the interceptors.
func (r *run) intercepted(ctx context.Context, i, n int, in Payload) (Result, error) {
	next := func(ctx context.Context, in Payload) (res Result, err error) {
		defer func() {
			// Whatever a file makes a parser do, the program goes on.
			if v := recover(); v != nil {
				err = Failf("the file made its engine stop (%.100s); it is damaged, or its format is not understood.", fmt.Sprint(v))
			}
		}()
		return r.step(ctx, i, n, in)
	}
	for k := len(r.p.cfg.Use) - 1; k >= 0; k-- {
		use, inner := r.p.cfg.Use[k], next
		next = func(ctx context.Context, in Payload) (Result, error) {
			called := false
			res, err := use(ctx, StepInfo{Plan: r.plan, Index: i, Steps: slices.Clone(r.plan.Steps[i : i+n]), In: in}, func(ctx context.Context, in Payload) (Result, error) {
				called = true
				return inner(ctx, in)
			})
			switch {
			case err != nil && !called:
				return res, &foreignError{err}
			case err == nil && res.empty() && !called:
				return res, Failf("an interceptor neither went on nor answered.")
			}
			return res, err
		}
	}
	return next(ctx, in)
}

// step runs one step, or the changes of a picture that stand together.
func (r *run) step(ctx context.Context, i, n int, in Payload) (Result, error) {
	s := &r.plan.Steps[i]
	v, _ := r.p.lang.Verb(s.Verb)
	if f := FamilyOf(in.MIME); !v.Works(f) && !(v.Works(Document) && Textual(in.MIME)) {
		return Result{}, r.inapplicable(v, &in)
	}
	switch {
	case isImage(s):
		return r.mutate(ctx, r.plan.Steps[i:i+n], in)
	case s.Verb == "convert":
		return r.convert(ctx, in, s.Args["to"].(string), map[string]any{"password": s.Args["password"]})
	case s.Verb == "extract.text":
		return r.extractText(ctx, s, in)
	case s.Verb == "extract.metadata":
		return r.metadata(ctx, s, in)
	case s.Verb == "audio.transcribe":
		return r.transcribe(ctx, s, in)
	}
	return r.edit(ctx, s, in)
}

// inapplicable says what a media is and which verbs are for it.
func (r *run) inapplicable(v *pipe.Verb, in *Payload) *Error {
	var try []string
	for _, o := range r.p.Verbs() {
		if o.ID != "extract.metadata" && r.able(&o, in) {
			try = append(try, words(o.ID))
		}
	}
	what := in.MIME
	if f, ok := FormatOf(in.MIME); ok {
		what = f.Token
	}
	var fams []string
	for _, f := range v.Families {
		fams = append(fams, string(f)+"s")
	}
	e := &Error{Code: UnsupportedOp, Verb: v.ID, Message: fmt.Sprintf("%s works on %s here, and %s is %s.", words(v.ID), r.worksOn(v, fams), in.Name, what)}
	if to := r.after(v, in); to != "" {
		e.Message += fmt.Sprintf(" Convert it first: convert to=%s.", to)
	}
	if len(try) == 0 {
		e.Message += " Nothing here works on it but extract metadata."
	} else {
		e.Message += " Possible with it: " + strings.Join(try, ", ") + "."
	}
	return e
}

// after returns the format to which a media can be converted here so that a verb then works on it, or "": one that keeps
// the structure.
func (r *run) after(v *pipe.Verb, in *Payload) string {
	best := ""
	for _, e := range r.p.edges(in.MIME) {
		f, ok := FormatOf(e.to)
		if !ok || Textual(in.MIME) || e.decl.Keep < Structure || e.to == "txt" || !slices.Contains(pipe.Targets, e.to) || !v.Works(f.Family) || len(r.edits(v.ID, f.MIME)) == 0 {
			continue
		}
		if office := slices.Contains([]string{"xlsx", "docx", "pptx", "odt"}, e.to); best == "" || office {
			if best = e.to; office {
				break
			}
		}
	}
	return best
}

// worksOn names the formats that engines declare for a verb, or else its families.
func (r *run) worksOn(v *pipe.Verb, families []string) string {
	var out []string
	for i := range r.p.engines() {
		for _, d := range r.p.engines()[i].Edit {
			if !slices.Contains(d.Ops, v.ID) {
				continue
			}
			for _, m := range d.Over {
				name := kindName(m)
				if !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
	}
	if len(out) == 0 {
		return strings.Join(families, ", ")
	}
	return strings.Join(out, ", ")
}

// kindName is what a type is called in messages.
func kindName(mime string) string {
	if f, ok := FormatOf(mime); ok {
		return f.Token
	}
	switch mime {
	case "text/*":
		return "text files"
	case "image/*":
		return "pictures"
	case "audio/*":
		return "sounds"
	case "message/*":
		return "mails"
	case "application/*":
		return "documents"
	case "application/x-ole-encrypted":
		return "encrypted Office files"
	}
	return mime
}

// able reports whether a verb can be used on a media here.
func (r *run) able(v *pipe.Verb, in *Payload) bool {
	switch {
	case !v.Works(FamilyOf(in.MIME)) && !(v.Works(Document) && Textual(in.MIME)):
		return false
	case v.ID == "extract.metadata":
		return true
	case v.ID == "convert":
		return len(r.p.edges(in.MIME)) > 0
	case v.ID == "audio.transcribe":
		return r.p.path(in.MIME, "pcm") != nil
	case v.ID == "extract.text", (v.ID == "chunk" || v.ID == "diff") && len(r.edits(v.ID, in.MIME)) > 0:
		return Textual(in.MIME) || r.p.path(in.MIME, "txt") != nil // they work on the words
	case strings.HasPrefix(v.ID, "image."):
		return len(r.mutations(in.MIME)) > 0
	}
	return len(r.edits(v.ID, in.MIME)) > 0
}

func (r *run) edits(op, mime string) []candidate {
	var able []candidate
	for i := range r.p.engines() {
		for j := range r.p.engines()[i].Edit {
			d := &r.p.engines()[i].Edit[j]
			if slices.Contains(d.Ops, op) && Matches(d.Over, mime) {
				able = append(able, candidate{i, d.Do})
				break
			}
		}
	}
	return able
}

func (r *run) edit(ctx context.Context, s *Step, in Payload) (Result, error) {
	v, _ := r.p.lang.Verb(s.Verb)
	able := r.edits(s.Verb, in.MIME)
	var warnings []string
	if len(able) == 0 && strings.HasPrefix(s.Verb, "sheet.") && r.direct(in.MIME, "xlsx") && len(r.edits(s.Verb, mimeOf("xlsx"))) > 0 {
		res, err := r.convert(ctx, in, "xlsx", nil)
		if err != nil {
			return Result{}, err
		}
		warnings = append(res.Warnings, fmt.Sprintf("%s was converted to xlsx to be changed, and the result is xlsx.", in.Name))
		in, able = *res.Media, r.edits(s.Verb, mimeOf("xlsx"))
	}
	if len(able) == 0 {
		return Result{}, r.inapplicable(v, &in)
	}
	do, err := r.choose(ctx, Selection{Kind: "edit", In: in, Ops: []string{s.Verb}}, able)
	if err != nil {
		return Result{}, err
	}
	with, err := r.with(ctx, s)
	if err != nil {
		return Result{}, err
	}
	req := r.op(ctx, s.Verb, s.Args, in)
	req.With = with
	res, err := do(ctx, req)
	if err != nil {
		return Result{}, err
	}
	if m := res.Media; m != nil {
		if m.MIME == "" {
			m.MIME = in.MIME
		}
		if m.Name == "" {
			m.Name = in.Name
		}
	}
	res.Warnings = append(warnings, res.Warnings...)
	if format, ok := s.Args["format"].(string); ok && s.Verb == "extract.assets" {
		return r.reencoded(ctx, res, format)
	}
	return res, nil
}

// reencoded gives the pictures of a list in one format. A picture that cannot be is given as it is, and said so.
func (r *run) reencoded(ctx context.Context, res Result, format string) (Result, error) {
	for i := range res.List {
		p := Identify(res.List[i])
		if FamilyOf(p.MIME) != Image || p.MIME == mimeOf(format) {
			continue
		}
		out, err := r.mutate(ctx, []Step{{Verb: "image.format", Args: map[string]any{"to": format}}}, p)
		switch {
		case ctx.Err() != nil:
			return res, ctx.Err()
		case err != nil:
			res.Warnings = append(res.Warnings, fmt.Sprintf("%s stays %s: %v", p.Name, p.MIME, err))
		default:
			res.List[i] = *out.Media
		}
	}
	return res, nil
}

func (r *run) op(ctx context.Context, verb string, args map[string]any, in Payload) *Request {
	req := r.request(ctx, in, args)
	req.Op = verb
	req.ReadText = func(ctx context.Context, p Payload) (string, error) {
		return r.words(ctx, p, map[string]any{"password": args["password"]})
	}
	return req
}

func (r *run) direct(mime, to string) bool {
	return slices.ContainsFunc(r.p.edges(mime), func(e edge) bool { return e.to == to })
}

func mimeOf(token string) string {
	f, _ := FormatOf(token)
	return f.MIME
}

// with fetches the media that a step names.
func (r *run) with(ctx context.Context, s *Step) ([]Payload, error) {
	var ids []MediaID
	switch v := s.Args["with"].(type) {
	case MediaID:
		ids = []MediaID{v}
	case []MediaID:
		ids = v
	}
	resolve := r.opt.Resolve
	if resolve == nil {
		resolve = r.p.cfg.Resolve
	}
	var out []Payload
	for _, id := range ids {
		if format, ok := EmptyID(string(id)); ok {
			p, err := r.p.Create(ctx, format)
			if err != nil {
				return nil, err
			}
			out = append(out, p)
			continue
		}
		if resolve == nil {
			return nil, &Error{Code: NotFound, Message: fmt.Sprintf("no media with id %q: there are no other media here.", id)}
		}
		p, err := resolve(ctx, string(id))
		if err != nil {
			return nil, &foreignError{err}
		}
		p = Identify(p)
		if err := r.p.cfg.Limits.Check(&p); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// EmptyID returns the format of an id that asks for a new file, empty:<format>.
func EmptyID(id string) (format string, ok bool) {
	kind, format, found := strings.Cut(id, ":")
	return strings.ToLower(strings.TrimSpace(format)), found && strings.EqualFold(kind, "empty")
}

func (r *run) extractText(ctx context.Context, s *Step, in Payload) (Result, error) {
	ocr, _ := s.Args["ocr"].(string)
	out, _ := s.Args["ocr_out"].(string)
	if out == "" {
		out = "txt"
	}
	if Textual(in.MIME) && ocr != "force" {
		t := DecodeText(in.Data)
		return Result{Read: &Reading{Data: t, Text: t}}, nil
	}
	paged := bare(in.MIME) == mimeOf("pdf") // pages can be looked at as pictures
	if FamilyOf(in.MIME) == Image || ocr == "force" {
		if FamilyOf(in.MIME) != Image && !(paged && r.p.Reads() && out == "txt") || ocr == "off" || r.p.path(in.MIME, out) == nil {
			e := &Error{Code: EngineRequired, Verb: "extract.text", Final: true, Message: fmt.Sprintf("%s is %s, and reading text from pictures needs an OCR engine, which this deployment does not have.", in.Name, in.MIME)}
			if ocr == "off" {
				e.Code, e.Message = UnsupportedOp, fmt.Sprintf("%s is a picture, which has no text without OCR, and ocr=off.", in.Name)
			}
			return Result{}, e
		}
	}
	if r.p.path(in.MIME, out) == nil {
		return Result{}, r.wordless(&in)
	}
	res, err := r.convert(ctx, in, out, map[string]any{"languages": s.Args["lang"], "ocr": ocr, "password": s.Args["password"]})
	if err != nil {
		return Result{}, err
	}
	t := string(res.Media.Data)
	return Result{Read: &Reading{Data: t, Text: t}, Warnings: res.Warnings}, nil
}

// words gives the text of a media for a step, and refuses it as one of the step where nothing here reads it.
func (r *run) words(ctx context.Context, in Payload, options map[string]any) (string, error) {
	if in = Identify(in); !Textual(in.MIME) && r.p.path(in.MIME, "txt") == nil {
		return "", r.wordless(&in)
	}
	return r.text(ctx, in, options)
}

// wordless refuses a media whose words nothing here reads.
func (r *run) wordless(in *Payload) *Error {
	what := in.MIME
	if f, ok := FormatOf(in.MIME); ok {
		what = f.Token
	}
	e := &Error{Code: EngineRequired, Verb: "this with it", Final: true, Message: fmt.Sprintf("%s is %s, and nothing here reads the text of that.", in.Name, what)}
	if to := r.p.Targets(in.MIME); len(to) > 0 {
		e.Message += " It converts to " + strings.Join(to, ", ") + "."
	}
	return e
}

// transcribe decodes sound and has it written down.
func (r *run) transcribe(ctx context.Context, s *Step, in Payload) (Result, error) {
	out, _ := s.Args["out"].(string)
	out = cmp.Or(out, "txt")
	if r.p.path(in.MIME, "pcm") == nil || r.p.path(PCMMIME, out) == nil {
		return Result{}, &Error{Code: EngineRequired, Verb: "audio.transcribe", Final: true, Message: fmt.Sprintf("%s is %s; to write down what is said in it as %s needs a decoder and a speech engine, and one of them is not here.", in.Name, in.MIME, out)}
	}
	pcm, err := r.convert(ctx, in, "pcm", nil)
	if err != nil {
		return Result{}, err
	}
	pcm.Media.Name = in.Name
	res, err := r.convert(ctx, *pcm.Media, out, map[string]any{"lang": s.Args["lang"], "translate": s.Args["translate"]})
	if err != nil {
		return Result{}, err
	}
	t := string(res.Media.Data)
	return Result{Read: &Reading{Data: t, Text: t}, Warnings: append(pcm.Warnings, res.Warnings...)}, nil
}

// DecodeText returns the text of a text file in UTF-8 with plain line feeds. What is not text in a known encoding has its
// invalid bytes replaced.
func DecodeText(data []byte) string {
	s := string(data)
	if t, err := text.Decode(data); err == nil {
		s = string(t.Content)
	}
	s = strings.ToValidUTF8(s, "\ufffd")
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

func (r *run) metadata(ctx context.Context, s *Step, in Payload) (Result, error) {
	m := map[string]any{"filename": in.Name, "mime_type": in.MIME, "size_bytes": len(in.Data), "family": FamilyOf(in.MIME)}
	for _, c := range r.edits("extract.metadata", in.MIME) {
		res, err := c.do(ctx, r.op(ctx, "extract.metadata", s.Args, in))
		if err != nil {
			if ctx.Err() != nil {
				return Result{}, ctx.Err()
			}
			m["problem"] = err.Error()
			continue
		}
		if more, ok := res.Read.Data.(map[string]any); ok {
			for k, v := range more {
				m[k] = v
			}
		}
	}
	return Result{Read: &Reading{Data: m}}, nil
}
