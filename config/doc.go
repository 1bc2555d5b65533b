// Package config reads what people write about tackle, and says where each value came from.
//
// The one idea: a value is never without its origin. [Load] reads the layers in order (the person's file, the project's
// file, TACKLE_ variables, flags), each over the one before, and returns a [Merged]: one plain [Config] whose zero value
// works, and for every value that is set the layer, file and line that set it. Mistakes are found while reading, all of
// them at once, each with its position and what to write instead; then Load returns an error and no Merged, and a caller
// that reloads keeps the one it has.
//
// Values merge by key and lists are replaced whole. Rules do not merge: each file's rules are a layer of their own for
// package permission, which takes the strictest opinion over them.
//
// A project's file was written by whoever wrote the project. Until the person has trusted its exact content (see
// [TrustKey]) only what tightens counts: its deny and ask rules, require_read and switched-off tools. Everything else in
// it waits, and Merged.Ignored says so. Some settings a project can never make.
//
// Credentials are references: "${NAME}" and nothing else. They are held as [tool.Secret] and never printed.
//
// The file format is YAML without anchors, aliases and tags. [Schema] describes it to editors.
package config
