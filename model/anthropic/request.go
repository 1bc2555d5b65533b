package anthropic

import (
	"encoding/base64"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/internal/fit"
	"github.com/tackle-dev/tackle/model/internal/wire"
)

// defaultTokens bounds an answer where nobody says how long it may be. Reasoning counts, and less would cut long files.
const defaultTokens = 32_000

// unknownTokens is the same for models of which nothing is known.
const unknownTokens = 8192

// words is the rule for names of tools and ids of calls.
var words = fit.Rule{Max: 128, First: fit.Word, Rest: fit.Word}

// past is a request as it was sent, for what the answer needs of it.
type past struct {
	names  *fit.Names
	binder *binder
	sent   [][]byte // the opaque forms of the reasoning in it
	knobs  knob
}

// params writes a request in the order of the provider's cache: tools, system, messages.
func (m *Model) params(req model.Request) (sdk.MessageNewParams, *past) {
	p := &past{names: fit.NewNames(words, req.Tools), binder: newBinder(m.info.Name, req)}
	params := sdk.MessageNewParams{Model: m.info.Name, MaxTokens: int64(m.maxTokens(req))}
	var mark sdk.CacheControlEphemeralParam
	marked := m.takes(markKnob)
	if marked {
		mark = sdk.NewCacheControlEphemeralParam()
	}
	for i, t := range req.Tools {
		t = m.schemas.Fit(t)
		u := &sdk.ToolParam{Name: p.names.Wire(t.Name), InputSchema: param.Override[sdk.ToolInputSchemaParam](t.Schema)}
		if t.Description != "" {
			u.Description = sdk.String(t.Description)
		}
		if i == len(req.Tools)-1 {
			u.CacheControl = mark
		}
		params.Tools = append(params.Tools, sdk.ToolUnionParam{OfTool: u})
	}
	if strings.TrimSpace(req.System) != "" {
		params.System = []sdk.TextBlockParam{{Text: req.System, CacheControl: mark}}
	}
	w := writer{model: m, past: p, ids: fit.IDs{Rule: words}}
	for _, msg := range req.Messages {
		w.message(msg)
	}
	params.Messages = w.out
	w.mark(mark)
	m.choose(&params, req)
	m.think(&params, req, w.bare)
	p.knobs = knobs(&params, marked)
	return params, p
}

func (m *Model) maxTokens(req model.Request) int {
	n := unknownTokens
	switch {
	case req.MaxTokens > 0:
		n = req.MaxTokens
	case m.info.Output > 0:
		n = min(m.info.Output, defaultTokens)
	}
	if most := int(m.most.Load()); most > 0 {
		n = min(n, most)
	}
	return n
}

// choose sets whether tools must be called. Nothing is said where there are no tools: the provider would refuse it.
func (m *Model) choose(params *sdk.MessageNewParams, req model.Request) {
	switch {
	case len(req.Tools) == 0:
	case req.Choose == model.None:
		none := sdk.NewToolChoiceNoneParam()
		params.ToolChoice.OfNone = &none
	case req.Choose == model.Required && m.traits.forced && m.takes(choiceKnob):
		params.ToolChoice.OfAny = &sdk.ToolChoiceAnyParam{}
	}
}

// budgets of reasoning, in tokens.
var budgets = map[model.Effort]int64{model.Low: 4096, model.Medium: 12_000, model.High: 24_000}

// leastBudget is the provider's.
const leastBudget = 1024

// think sets how the model reasons. bare says that the calls of the last answer came without signed reasoning, which the
// provider refuses where it is to reason within a budget.
func (m *Model) think(params *sdk.MessageNewParams, req model.Request, bare bool) {
	asked := req.Effort == model.Low || req.Effort == model.Medium || req.Effort == model.High
	forced := params.ToolChoice.OfAny != nil // excludes reasoning
	thinks := false
	switch m.traits.thinks {
	case budgeted:
		budget := min(budgets[req.Effort], params.MaxTokens/2)
		if thinks = asked && !forced && !bare && budget >= leastBudget && m.takes(thinkKnob); thinks {
			params.Thinking = sdk.ThinkingConfigParamOfEnabled(budget)
		}
	case adaptive:
		off := (req.Effort == model.Off || forced) && m.traits.off != ""
		thinks = (asked || m.traits.byself) && !off
		if thinks && m.takes(thinkKnob) {
			// Newer models do not show what they think, nor what they say between calls, unless they are asked to.
			params.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{Display: sdk.ThinkingConfigAdaptiveDisplaySummarized}
		}
		switch {
		case !m.takes(effortKnob):
		case asked:
			params.OutputConfig.Effort = sdk.OutputConfigEffort(req.Effort)
		case req.Effort == model.Off && m.traits.off == "": // it thinks as little as it can
			params.OutputConfig.Effort = sdk.OutputConfigEffortLow
		}
		if off && m.traits.byself && m.takes(thinkKnob) {
			m.silence(params)
		}
	}
	if req.Temperature != nil && m.traits.warm && !thinks && m.takes(warmKnob) {
		params.Temperature = sdk.Float(*req.Temperature)
	}
}

// silence keeps a model from thinking that thinks by itself.
func (m *Model) silence(params *sdk.MessageNewParams) {
	if m.traits.off == "between_tools" {
		b := sdk.NewThinkingConfigBetweenToolsParam()
		params.Thinking.OfBetweenTools = &b
		return
	}
	d := sdk.NewThinkingConfigDisabledParam()
	params.Thinking.OfDisabled = &d
}

// writer writes messages.
type writer struct {
	model *Model
	past  *past
	ids   fit.IDs
	out   []sdk.MessageParam
	bare  bool // the last answer holds calls without reasoning before them
}

func (w *writer) message(msg model.Message) {
	var blocks, results []sdk.ContentBlockParamUnion
	thought, called := false, false
	for _, b := range msg.Blocks {
		switch {
		case b.Reasoning != nil:
			if x, ok := w.reasoning(b.Reasoning); ok {
				thought = true
				blocks = append(blocks, x)
			}
		case b.Part != nil:
			blocks = append(blocks, w.part(*b.Part).block()...)
		case b.Call != nil:
			called = true
			blocks = append(blocks, sdk.NewToolUseBlock(w.ids.Call(b.Call.ID), wire.Sent(b.Call), w.past.names.Wire(b.Call.Name)))
		case b.Result != nil:
			results = append(results, w.result(b.Result))
		}
		w.past.binder.block(msg.Role, b)
	}
	blocks = append(results, blocks...) // results come first, or the provider refuses the message
	if len(blocks) == 0 {
		return
	}
	role := sdk.MessageParamRoleUser
	if msg.Role == model.Assistant {
		role = sdk.MessageParamRoleAssistant
		w.bare = called && !thought
	}
	w.out = append(w.out, sdk.MessageParam{Role: role, Content: blocks})
}

// reasoning returns a block as the provider sent it.
func (w *writer) reasoning(r *model.Reasoning) (sdk.ContentBlockParamUnion, bool) {
	if r.Provider != w.model.info.Provider {
		return sdk.ContentBlockParamUnion{}, false
	}
	raw, ok := w.past.binder.open(r.Opaque)
	if !ok || w.model.refused.Has(r.Opaque) {
		return sdk.ContentBlockParamUnion{}, false
	}
	w.past.sent = append(w.past.sent, r.Opaque)
	t := param.Override[sdk.ThinkingBlockParam](raw)
	return sdk.ContentBlockParamUnion{OfThinking: &t}, true
}

func (w *writer) result(r *model.Result) sdk.ContentBlockParamUnion {
	x := &sdk.ToolResultBlockParam{ToolUseID: w.ids.Result(r.CallID)}
	for _, p := range r.Parts {
		x.Content = append(x.Content, w.part(p).content()...)
	}
	if r.Error {
		x.IsError = sdk.Bool(true)
	}
	return sdk.ContentBlockParamUnion{OfToolResult: x}
}

// shown is a part as the provider takes it, in a message or in a result.
type shown struct {
	text  *sdk.TextBlockParam
	image *sdk.ImageBlockParam
	file  *sdk.DocumentBlockParam
}

func (s shown) block() []sdk.ContentBlockParamUnion {
	if s.text == nil && s.image == nil && s.file == nil {
		return nil
	}
	return []sdk.ContentBlockParamUnion{{OfText: s.text, OfImage: s.image, OfDocument: s.file}}
}

func (s shown) content() []sdk.ToolResultBlockParamContentUnion {
	if s.text == nil && s.image == nil && s.file == nil {
		return nil
	}
	return []sdk.ToolResultBlockParamContentUnion{{OfText: s.text, OfImage: s.image, OfDocument: s.file}}
}

// part writes a part. Text that is empty or blank is left out, because the provider refuses it.
func (w *writer) part(p content.Part) shown {
	switch x := model.Fit(p, w.model.info); {
	case x.Kind == content.Image:
		return shown{image: &sdk.ImageBlockParam{Source: sdk.ImageBlockParamSourceUnion{OfBase64: &sdk.Base64ImageSourceParam{
			MediaType: sdk.Base64ImageSourceMediaType(x.MIME), Data: base64.StdEncoding.EncodeToString(x.Data)}}}}
	case x.Kind == content.Document:
		d := &sdk.DocumentBlockParam{Source: sdk.DocumentBlockParamSourceUnion{OfBase64: &sdk.Base64PDFSourceParam{
			Data: base64.StdEncoding.EncodeToString(x.Data)}}}
		if x.Name != "" {
			d.Title = sdk.String(x.Name)
		}
		return shown{file: d}
	case strings.TrimSpace(x.Text) != "":
		return shown{text: &sdk.TextBlockParam{Text: x.Text}}
	}
	return shown{}
}

// mark marks the end of the conversation and the end of what the last request held. The marks wander with the conversation; what
// the provider compares does not hold them.
func (w *writer) mark(mark sdk.CacheControlEphemeralParam) {
	marks := 0
	for i := len(w.out) - 1; i >= 0 && marks < 2; i-- {
		msg := &w.out[i]
		if msg.Role != sdk.MessageParamRoleUser || marks == 1 && w.out[i+1].Role == sdk.MessageParamRoleUser {
			continue
		}
		marks++
		switch b := &msg.Content[len(msg.Content)-1]; {
		case b.OfText != nil:
			b.OfText.CacheControl = mark
		case b.OfImage != nil:
			b.OfImage.CacheControl = mark
		case b.OfDocument != nil:
			b.OfDocument.CacheControl = mark
		case b.OfToolResult != nil:
			b.OfToolResult.CacheControl = mark
		}
	}
}

// seal makes the reasoning of an answer ready to go back.
func (p *past) seal(provider string, msg *model.Message) {
	for i, b := range msg.Blocks {
		if b.Reasoning != nil && len(b.Reasoning.Opaque) > 0 {
			b.Reasoning.Provider = provider
			b.Reasoning.Opaque = p.binder.seal(b.Reasoning.Opaque)
		}
		p.binder.block(msg.Role, msg.Blocks[i])
	}
}
