package toolbox

import (
	"sync"

	"github.com/tackle-dev/tackle/tool"
)

// screen gives a call the functions that judge single files for listings and searches. approved are the targets that the
// call may read, once that was decided: what lies below a folder is then shown, where nothing but the default for its
// place would keep it back.
func (b *Box) screen(p *Planned, c *tool.Call, approved []tool.Target) {
	s, ok := b.cfg.Gate.(Screener)
	if !ok {
		return
	}
	under := func(permission string) func() func(tool.Target) tool.Verdict {
		in := &tool.Intent{Tool: c.Tool, Permission: permission, Effects: []tool.Effect{tool.Read}}
		return sync.OnceValue(func() func(tool.Target) tool.Verdict {
			req := b.gateRequest(p, in)
			req.Approved = approved
			return s.Screen(req)
		})
	}
	c.Screen, c.ScreenRead = under(p.entry.def.Permission), under(tool.ReadPermission)
	if c.Private != nil {
		return // planning is over
	}
	judge := c.ScreenRead
	if p.entry.def.Annotations.ReadOnly {
		judge = c.Screen
	}
	c.Private = &tool.Private{Judge: func(t tool.Target) tool.Verdict { return judge()(t) }}
}
