package toolbox

import (
	"sync"

	"github.com/tackle-dev/tackle/tool"
)

// screening judges single files for one permission, once anybody asks.
type screening struct {
	box        *Box
	call       *Planned
	screener   Screener
	permission string
	approved   []tool.Target
	once       sync.Once
	judge      func(tool.Target) tool.Verdict
}

func (s *screening) get() func(tool.Target) tool.Verdict {
	s.once.Do(func() {
		in := &tool.Intent{Tool: s.call.entry.def.Name, Permission: s.permission, Effects: []tool.Effect{tool.Read}}
		req := s.box.gateRequest(s.call, in)
		req.Approved = s.approved
		s.judge = s.screener.Screen(req)
	})
	return s.judge
}

// verdict judges one target.
func (s *screening) verdict(t tool.Target) tool.Verdict { return s.get()(t) }

// screen gives a call the functions that judge single files for listings and searches. approved are the targets that the
// call may read, once that was decided: what lies below a folder is then shown, where nothing but the default for its
// place would keep it back.
func (b *Box) screen(p *Planned, c *tool.Call, approved []tool.Target) {
	s, ok := b.cfg.Gate.(Screener)
	if !ok {
		return
	}
	two := &[2]screening{{box: b, call: p, screener: s, permission: p.entry.def.Permission, approved: approved},
		{box: b, call: p, screener: s, permission: tool.ReadPermission, approved: approved}}
	c.Screen, c.ScreenRead = two[0].get, two[1].get
	if c.Private != nil {
		return // planning is over
	}
	judge := &two[1]
	if p.entry.def.Annotations.ReadOnly {
		judge = &two[0]
	}
	c.Private = &tool.Private{Judge: judge.verdict}
}
