package permission

import (
	"fmt"

	"github.com/tackle-dev/tackle/tool"
)

// Posture sets the defaults by class: what happens to a target about which no layer has an opinion (P7). The zero value
// is Guarded.
type Posture string

// The postures.
const (
	Plan    Posture = "plan"    // look, do not touch
	Guarded Posture = "guarded" // the default: what is contained and can be undone runs, the boundary asks
	Auto    Posture = "auto"    // as guarded, for sessions whose rules were written with care
	CI      Posture = "ci"      // nobody is there: what guarded asks for is denied unless a rule allows it
)

// Postures returns every posture.
func Postures() []Posture { return []Posture{Plan, Guarded, Auto, CI} }

// column returns the posture's column in the table, and whether there is such a posture.
func (p Posture) column() (int, bool) {
	switch p {
	case Plan:
		return 0, true
	case Guarded, "":
		return 1, true
	case Auto:
		return 2, true
	case CI:
		return 3, true
	}
	return 1, false
}

// Check reports a posture that does not exist.
func (p Posture) Check() error {
	if _, ok := p.column(); !ok {
		return fmt.Errorf("posture %q: want plan, guarded, auto or ci", string(p))
	}
	return nil
}

// String returns the name; the zero value is "guarded".
func (p Posture) String() string {
	if p == "" {
		return string(Guarded)
	}
	return string(p)
}

// Verdict returns what the posture says about a class (the table of field/security.md 5.1). A class that it does not
// know is asked for, and denied where nobody is there. A posture that does not exist speaks as Guarded.
func (p Posture) Verdict(c Class) tool.Verdict {
	const allow, ask, deny = tool.Allow, tool.Ask, tool.Deny
	var row [4]tool.Verdict // plan, guarded, auto, ci
	switch c {
	case ReadIn, WritePlan, ExecReadonly:
		row = [4]tool.Verdict{allow, allow, allow, allow}
	case ReadOut:
		row = [4]tool.Verdict{ask, ask, ask, deny}
	case ReadSecret:
		row = [4]tool.Verdict{deny, ask, ask, deny}
	case WriteIn:
		row = [4]tool.Verdict{deny, allow, allow, allow}
	case WriteProtected, ConfigFile, WriteOut:
		row = [4]tool.Verdict{deny, ask, ask, deny}
	case ExecSandboxed:
		row = [4]tool.Verdict{deny, allow, allow, allow} // plan runs commands in the read-only profile: exec-readonly
	case ExecHost:
		row = [4]tool.Verdict{deny, ask, ask, deny}
	case NetKnown:
		row = [4]tool.Verdict{allow, allow, allow, deny}
	case NetNew:
		row = [4]tool.Verdict{ask, ask, ask, deny}
	case External:
		row = [4]tool.Verdict{deny, ask, ask, deny}
	default:
		row = [4]tool.Verdict{ask, ask, ask, deny}
	}
	i, _ := p.column()
	return row[i]
}
