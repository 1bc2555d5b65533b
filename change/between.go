package change

// Paths returns every path that the set names, both ends of a move included, in the order of the operations.
func (s *Set) Paths() []string {
	if s == nil {
		return nil
	}
	out := make([]string, 0, len(s.Ops))
	for _, op := range s.Ops {
		out = append(out, op.paths()...)
	}
	return out
}

// Between returns the unified diff that turns one state of a path into another, "" where they are equal. Content that is
// not held is named by its digest instead of shown.
func Between(path string, from, to State) string {
	switch {
	case from.Equal(to):
		return ""
	case to.Type == Absent:
		return (&Set{Ops: []Op{{Kind: Delete, Path: path, Before: from}}}).Preview("", PreviewOptions{}).Diff
	}
	return (&Set{Ops: []Op{{Kind: Write, Path: path, Before: from, After: to}}}).Preview("", PreviewOptions{}).Diff
}
