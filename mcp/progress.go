package mcp

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tackle-dev/tackle/internal/clip"
)

// keepAlive is how often a silent call reports progress: some clients give up on a call that says nothing for a minute.
const keepAlive = 10 * time.Second

// A call may report this much progress at once, and again this much each second.
const progressBurst = 20

// maxProgressText bounds the message of one report, in characters.
const maxProgressText = 200

// reporter turns what a tool reports into progress notifications whose values only grow, at a bounded rate, and keeps a
// silent call alive. A nil reporter reports nothing.
type reporter struct {
	send  func(progress, total float64, message string)
	began time.Time

	mu     sync.Mutex
	said   bool
	last   float64
	total  float64
	tokens float64
	filled time.Time
	alive  *time.Timer
	over   bool
}

func newReporter(send func(progress, total float64, message string)) *reporter {
	now := time.Now()
	p := &reporter{send: send, began: now, tokens: progressBurst, filled: now}
	p.mu.Lock()
	p.alive = time.AfterFunc(keepAlive, p.still)
	p.mu.Unlock()
	return p
}

// report is toolbox.Request.Progress. Reports past the rate are dropped, the one that reaches the total is not.
func (p *reporter) report(done, total float64, message string) {
	p.put(done, total, message, total > 0 && done >= total)
}

// partial is toolbox.Request.Partial: output that exists already, shown as the message of a report.
func (p *reporter) partial(text string) {
	text = strings.TrimRight(text, "\n")
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	if text != "" {
		p.put(0, 0, text, false)
	}
}

func (p *reporter) still() {
	p.put(0, 0, fmt.Sprintf("running for %v", time.Since(p.began).Round(time.Second)), true)
}

// put sends one report. A value that would not grow becomes one that grows by very little; the protocol wants growth.
func (p *reporter) put(done, total float64, message string, always bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	now := time.Now()
	p.tokens = min(progressBurst, p.tokens+progressBurst*now.Sub(p.filled).Seconds())
	p.filled = now
	if p.tokens < 1 && !always {
		return
	}
	p.tokens--
	if total > 0 {
		p.total = total
	}
	if p.said && done <= p.last {
		done = p.last + 0.001
	}
	p.last, p.said = done, true
	p.alive.Reset(keepAlive)
	p.send(done, p.total, clip.Middle(message, maxProgressText))
}

// stop ends the reports. No report is sent after it returns.
func (p *reporter) stop() {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	p.alive.Stop()
}
