// Package media works on files as agents need it: media in, a statement over them, media or text out.
//
//	p, err := media.New(media.Config{Engines: standard.Engines()})
//	res, err := p.Query(ctx, media.Payload{Data: data, Name: "list.csv"}, `sheet update_cells updates='[{"address":"B2","value":3}]'`)
//
// A [Plan] says what to do and nothing about how: a statement, structured operations ([Pipeline.CompileOps]) and a
// [Builder] make the same plan by the same checks. A pipeline knows what its engines declare, offers exactly that, and
// refuses the rest before anything runs. It takes the first engine, in the order given, that declares a step; selection
// hooks may arbitrate. Conversions may take up to three hops, none of the inner ones lossy.
//
// Bytes come in and go out; the package opens no file and no connection. What it is given is untrusted: the format is found
// from the bytes, and everything that grows is bounded by [Limits]. Every failure that a model can act on is an [*Error].
// A Pipeline is safe for concurrent use.
package media
