// Package schema holds the one description of a tool's arguments and everything that is derived from it.
//
// A Go struct becomes a JSON Schema that every client and provider accepts ([For]). The same schema, or the schema of
// somebody else's tool, compiles into a [Checker], which mends and validates arguments before anything acts on them.
// [Lint] names the provider that would reject a definition, and [Convert] and [Render] write it in the words of each.
//
// Three promises hold:
//
//   - Repair loses nothing. It touches only what does not validate as it stands, every repair is on record, and bytes
//     that were not repaired come out as they came in. What cannot be mended without guessing is reported per field.
//   - A published constraint is said twice, as a keyword and in the description, because some clients strip keywords.
//   - Output is byte-stable: the same definition gives the same bytes on every run, so prompt caches hold.
//
// The package is pure: bytes and types in, values out. It is not a general JSON Schema validator; keywords beyond the
// usual ones are handed to github.com/google/jsonschema-go and reported as one problem.
package schema
