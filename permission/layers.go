package permission

// Layers returns the rules that the gate decides by, layer by layer, in their order. Modes and parents are not in it.
func (g *Gate) Layers() []LayerView {
	out := make([]LayerView, 0, len(g.layers))
	for _, c := range g.layers {
		v := LayerView{Name: c.name, Untrusted: c.untrusted}
		for i := range c.rules {
			r := &c.rules[i]
			rv := RuleView{Number: r.number, Rule: r.Rule}
			if r.ignored {
				rv.Note = "does not count: the layer is not trusted, so it can only tighten"
			}
			v.Rules = append(v.Rules, rv)
		}
		out = append(out, v)
	}
	return out
}

// Posture returns the posture that sets the defaults.
func (g *Gate) Posture() Posture { return Posture(g.posture.String()) }
