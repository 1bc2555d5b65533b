package agent

import (
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/permission"
)

// What the machine puts up with.
const (
	maxTries    = 10               // failed requests in a row
	maxInvalid  = 2                // of which so many may be invalid
	maxWait     = 15 * time.Minute // that a provider may ask for
	maxSqueezes = 3                // compactions without an answer
	maxNudges   = 3                // answers in a row that are empty or cut off
	maxResumes  = 5                // processes that end without any progress: one of the calls ends them
	keptRepeats = 64
	// The fourth identical result is told that the next one does not come; two more attempts end the turn.
	sameTold    = 3
	sameStopped = 4
	maxStopped  = 3
)

// Next takes an event into the state of a session and says what is to be done about it. It is a function of its arguments alone:
// it reads no clock, store or network, and changes nothing that s refers to. Events that make no sense where the session stands,
// such as a second result of one call, change nothing.
func Next(s State, ev Event) (State, []Step) {
	s.Calls, s.Repeats = slices.Clone(s.Calls), slices.Clone(s.Repeats)
	steps := s.next(&ev)
	return s, steps
}

// Fold returns the state after events, and the steps that the last of them led to.
func Fold(s State, evs ...Event) (State, []Step) {
	var steps []Step
	s.Calls, s.Repeats = slices.Clone(s.Calls), slices.Clone(s.Repeats)
	for i := range evs {
		steps = s.next(&evs[i])
	}
	return s, steps
}

// next is Next for a state of one's own.
func (s *State) next(ev *Event) []Step {
	s.Version = Version
	s.Seq = max(s.Seq, ev.Seq)
	if s.Phase == Fresh {
		if ev.Kind == Started && ev.Setup != nil {
			s.Setup, s.Phase = *ev.Setup, Resting
		}
		return nil
	}
	m := machine{State: s, at: ev.At}
	m.take(ev)
	return m.steps
}

// machine is a state that takes an event.
type machine struct {
	*State
	at    time.Time
	steps []Step
}

func (m *machine) take(ev *Event) {
	switch {
	case ev.Kind == Configured && ev.Setup != nil:
		name := m.Setup.Session
		m.Setup = *ev.Setup
		m.Setup.Session = name
	case ev.Kind == Said && ev.Said != nil:
		m.said(ev)
	case ev.Kind == Answered && ev.Answer != nil && m.Phase == Thinking:
		m.answered(ev.Answer)
	case ev.Kind == Failed && ev.Failure != nil && m.Phase == Thinking:
		m.failed(ev.Failure)
	case ev.Call != nil && m.Phase == Working:
		m.called(ev.Kind, ev.Call)
	case (ev.Kind == Ran || ev.Kind == Unknown) && ev.Result != nil && m.Phase == Working:
		m.ran(ev.Kind, ev.Result)
	case ev.Kind == Compacted && ev.Compaction != nil:
		m.compacted(ev.Compaction)
	case ev.Kind == Limited:
		m.interrupt(End{Why: AtLimit, Detail: ev.Reason})
	case ev.Kind == Cancelled:
		m.interrupt(End{Why: WasCanceled, Detail: ev.Reason})
	case ev.Kind == Resumed:
		m.resume()
	case ev.Kind == Finished && m.Phase == Ends:
		m.Phase, m.Last, m.Ending = Resting, m.Ending, nil
		if ev.End != nil {
			m.Last = ev.End
		}
		if m.Steered != "" { // said when the turn was over already
			m.begin(m.Steered)
		}
	}
}

func (m *machine) said(ev *Event) {
	if ev.Said.ID != "" && ev.Said.ID == m.Turn {
		return
	}
	m.Messages++
	m.LastSaid = ev.Seq
	m.Context += max(ev.Said.Tokens, 0)
	switch {
	case m.Phase == Resting:
		m.begin(ev.Said.ID)
	case m.Steered == "":
		if m.Steered = ev.Said.ID; m.Steered == "" {
			m.Steered = fmt.Sprintf("m%d", m.Messages)
		}
	}
}

// begin begins a turn.
func (m *machine) begin(id string) {
	m.Turns++
	m.Turn, m.Opened, m.Began = id, m.Seq, m.at
	m.Tally, m.Calls, m.Repeats, m.Ending = Tally{}, nil, nil, nil
	m.Squeezes, m.Tries, m.Nudges, m.Resumes = 0, 0, 0, 0
	m.request()
}

// request asks the model, unless the turn is over or the conversation has to be made shorter first.
func (m *machine) request() {
	if m.Ending != nil {
		m.finish(*m.Ending)
		return
	}
	if detail := m.exceeded(); detail != "" {
		m.finish(End{Why: AtLimit, Detail: detail})
		return
	}
	// Where prompt and tools alone are more than the threshold, no compaction helps: it waits until there is something to gain.
	if m.Context > m.threshold() && m.Squeezes == 0 && m.Context-m.Floor > m.Window()/10 {
		m.squeeze()
		return
	}
	m.think(0)
}

func (m *machine) think(after time.Duration) {
	m.Phase, m.Steered, m.Calls = Thinking, "", nil
	m.steps = append(m.steps, Step{Kind: CallModel, After: after, Try: m.Tries})
}

func (m *machine) finish(end End) {
	m.Phase, m.Ending = Ends, &end
	m.steps = append(m.steps, Step{Kind: Finish, End: &end})
}

// exceeded says which limit of the turn is reached, "" for none.
func (m *machine) exceeded() string {
	l, t := m.Setup.Limits, &m.Tally
	if l.Rounds == 0 {
		l.Rounds = DefaultRounds
	}
	const next = "Say how to go on, or raise the limit"
	switch took := m.at.Sub(m.Began); {
	case l.Rounds > 0 && t.Rounds >= l.Rounds:
		return fmt.Sprintf("The turn took %d answers of the model, which is its limit. %s (rounds).", t.Rounds, next)
	case l.Tokens > 0 && t.Tokens() >= l.Tokens:
		return fmt.Sprintf("The turn used %d tokens; its limit is %d. %s (tokens).", t.Tokens(), l.Tokens, next)
	case l.Cost > 0 && t.Cost >= l.Cost:
		return fmt.Sprintf("The turn cost $%.4f; its limit is $%.4f. %s (cost).", t.Cost, l.Cost, next)
	case l.Time > 0 && took >= l.Time:
		return TimeIsOver(l.Time)
	}
	return ""
}

// TimeIsOver is the reason of the Limited event of a turn whose time is over.
func TimeIsOver(limit time.Duration) string {
	return fmt.Sprintf("The turn reached its limit of %v. Say how to go on, or raise the limit (time).", limit)
}

// threshold is how many tokens a request may have before the conversation is told in short.
func (s *State) threshold() int {
	part := s.Setup.Limits.Compact
	if part < 0 {
		return int(^uint(0) >> 1)
	}
	if part == 0 || part > 1 {
		part = DefaultCompact
	}
	w := s.Window()
	return min(int(part*float64(w)), w-min(max(s.Setup.Model.Output, 0), w/4))
}

func (m *machine) squeeze() {
	m.Phase = Compacting
	m.steps = append(m.steps, Step{Kind: Compact, Target: m.Window() * 2 / 5 >> m.Squeezes})
}

func (m *machine) answered(a *Answer) {
	m.Answers++
	m.Tally.add(a)
	m.Total.add(a)
	m.Tries, m.Squeezes, m.Resumes = 0, 0, 0
	m.LastModel = a.Model
	if used := (Tally{Usage: a.Usage}).Tokens(); used > 0 {
		m.Context = used
	} else {
		m.Context += max(a.Tokens, 0)
	}
	if len(a.Calls) > 0 {
		m.Nudges = 0
		m.work(a.Calls)
		return
	}
	switch {
	case m.Ending != nil, m.Steered != "":
		m.request()
	case a.Stop == model.Refusal:
		m.finish(End{Why: Declined, Detail: "The model declined to answer. Say it in other words, or use another model."})
	case a.Empty || a.Stop == model.Length:
		if m.Nudges++; m.Nudges < maxNudges {
			m.request()
			return
		}
		m.finish(End{Why: SaysNothing, Detail: fmt.Sprintf("%d answers in a row were empty or cut off. Try again, allow longer answers, or use another model.", m.Nudges)})
	default:
		m.finish(End{Why: Done})
	}
}

// work takes up the calls of an answer. A call that keeps giving the same result is not run again.
func (m *machine) work(calls []Call) {
	m.Phase, m.Calls = Working, nil
	if m.Ending != nil {
		for _, c := range calls {
			m.Calls = append(m.Calls, CallState{Call: c, Status: Open})
		}
		m.open()
		return
	}
	var run, stop []Call
	for _, c := range calls {
		m.Calls = append(m.Calls, CallState{Call: c, Status: Open})
		if r := m.repeat(c.Same); r != nil && r.Times >= sameStopped {
			if r.Stopped++; r.Stopped >= maxStopped {
				m.Ending = &End{Why: GoesRound, Detail: fmt.Sprintf("The model called %s with the same arguments and the same result %d times, and went on after it was told. Say what it should do instead.", c.Name, r.Times+r.Stopped)}
			}
			stop = append(stop, c)
			continue
		}
		run = append(run, c)
	}
	if len(stop) > 0 {
		m.steps = append(m.steps, Step{Kind: Settle, Calls: stop, Words: stopWords})
	}
	if len(run) > 0 {
		m.steps = append(m.steps, Step{Kind: RunCalls, Calls: run})
	}
}

const stopWords = "This call was not run: you made it several times in this turn, and it always gave the same result. Change your approach: use what you know already, look somewhere else, or end the turn and say what you need."

// endWords is what a model reads of calls that the end of a turn overtook.
const endWords = "This call was not run: the turn was ended before it began."

// open emits what is to be done about calls that have no result.
func (m *machine) open() {
	var doubt, run []Call
	for _, c := range m.Calls {
		switch c.Status {
		case InDoubt:
			doubt = append(doubt, c.Call)
		case Open:
			run = append(run, c.Call)
		}
	}
	switch {
	case len(doubt) > 0: // the others wait: they may depend on it
		m.steps = append(m.steps, Step{Kind: FindOut, Calls: doubt})
	case len(run) > 0 && m.Ending != nil:
		m.steps = append(m.steps, Step{Kind: Settle, Calls: run, Words: endWords})
	case len(run) > 0 && m.Resumes > maxResumes:
		m.steps = append(m.steps, Step{Kind: Settle, Calls: run, Words: wearyWords})
	case len(run) > 0:
		m.steps = append(m.steps, Step{Kind: RunCalls, Calls: run})
	case len(m.Unsettled()) == 0:
		m.request()
	}
}

func (m *machine) failed(f *Failure) {
	m.Tally.spend(f.Usage, f.Cost)
	m.Total.spend(f.Usage, f.Cost)
	if m.Ending != nil {
		m.finish(*m.Ending)
		return
	}
	broken := End{Why: ModelFailed, Detail: f.Message}
	switch f.Class {
	case model.Canceled:
		m.finish(End{Why: WasCanceled})
	case model.TooLong:
		if m.Squeezes >= maxSqueezes {
			m.finish(End{Why: DoesNotFit, Detail: "The conversation does not fit the model, although it was told in short. Begin a new session, or use a model with a larger window."})
			return
		}
		m.squeeze()
	case model.Retry, model.Invalid:
		m.Tries++
		wait := backoff(m.Setup.Session, m.Answers, m.Tries, f.After)
		if m.Tries > maxTries || f.Class == model.Invalid && m.Tries > maxInvalid || wait > maxWait {
			m.finish(broken)
			return
		}
		if detail := m.exceeded(); detail != "" {
			m.finish(End{Why: AtLimit, Detail: detail})
			return
		}
		m.think(wait)
	case model.Refused:
		broken.Why = Declined
		m.finish(broken)
	default:
		m.finish(broken)
	}
}

// backoff returns how long to wait before the next try: what the provider asks for, or twice as long as before, spread by up to a
// quarter so that sessions that failed together do not come back together.
func backoff(session string, answers, tries int, asked time.Duration) time.Duration {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s/%d/%d", session, answers, tries)
	wait := min(time.Second<<min(tries-1, 10), time.Minute)
	spread := time.Duration(h.Sum32()%1000) * wait / 4000
	return max(asked, 0) + spread + map[bool]time.Duration{true: wait}[asked <= 0]
}

func (m *machine) find(id string) *CallState {
	i := slices.IndexFunc(m.Calls, func(c CallState) bool { return c.ID == id && c.Status != Settled })
	if i < 0 {
		return nil
	}
	return &m.Calls[i]
}

func (m *machine) called(kind Kind, e *CallEvent) {
	c := m.find(e.ID)
	if c == nil {
		return
	}
	// What may have run is judged by what it was when it began.
	if e.Class != "" && c.Status != IsRunning && (c.Status != InDoubt || kind == Planned) {
		c.Class = e.Class
	}
	if c.Status == InDoubt {
		if kind == Planned { // it is sure that it did not run
			c.Status = Open
			if !slices.ContainsFunc(m.Calls, func(c CallState) bool { return c.Status == InDoubt }) {
				m.open()
			}
		}
		return
	}
	switch {
	case kind == Running:
		c.Status = IsRunning
	case c.Status == IsRunning:
	case kind == Planned:
		c.Status = IsPlanned
	case kind == Asked:
		c.Status = IsAsked
	case kind == Decided:
		c.Status = IsPlanned
	}
}

func (m *machine) ran(kind Kind, r *Result) {
	c := m.find(r.ID)
	if c == nil {
		return
	}
	doubted := c.Status == InDoubt
	c.Status, c.Outcome = Settled, r.Outcome
	if kind == Unknown {
		c.Outcome = NotSure
		m.Unsure++
	}
	m.Context += max(r.Tokens, 0)
	m.Resumes = 0
	m.count(c.Call, r)
	if r.Fault != "" && m.Ending == nil {
		m.Ending = &End{Why: Broken, Detail: r.Fault}
	}
	if r.End != "" && m.Ending == nil {
		m.Ending = &End{Why: RefusedOver, Detail: r.End + "."}
	}
	if len(m.Unsettled()) == 0 {
		m.request()
	} else if doubted && !slices.ContainsFunc(m.Calls, func(c CallState) bool { return c.Status == InDoubt }) {
		m.open()
	}
}

func (m *machine) compacted(c *Compaction) {
	m.Tally.spend(c.Usage, c.Cost)
	m.Total.spend(c.Usage, c.Cost)
	m.Compacted, m.Context = max(m.Compacted, c.Upto), max(c.Tokens, 0)
	m.Squeezes++
	m.Floor = m.Context
	if m.Phase != Compacting {
		return
	}
	if m.Ending != nil {
		m.finish(*m.Ending)
		return
	}
	m.think(0)
}

// interrupt ends the turn as soon as what runs has given its events.
func (m *machine) interrupt(end End) {
	if m.Phase == Resting || m.Phase == Ends {
		return
	}
	if m.Ending == nil {
		m.Ending = &end
	}
	m.steps = append(m.steps, Step{Kind: Interrupt})
}

// resume says what an earlier process left to be done.
func (m *machine) resume() {
	m.Resumes++
	switch m.Phase {
	case Thinking:
		if m.Ending != nil { // nothing is under way any more that could be ended
			m.finish(*m.Ending)
			return
		}
		m.think(0)
	case Compacting:
		if m.Ending != nil {
			m.finish(*m.Ending)
			return
		}
		m.squeeze()
	case Working:
		m.resumeCalls()
	case Ends:
		m.finish(*m.Ending)
	}
}

func (m *machine) resumeCalls() {
	for i := range m.Calls {
		c := &m.Calls[i]
		switch {
		case c.Status == Settled || c.Status == InDoubt:
			continue
		case c.Status == IsRunning && !c.Class.Again():
			c.Status = InDoubt
			continue
		}
		c.Status = Open
	}
	m.open()
}

// wearyWords is what a model reads of calls with which process after process ended.
const wearyWords = "This call was not run again: the program ended several times while it worked on this answer, without any result. Take another way."

func (t *Tally) add(a *Answer) {
	t.Rounds++
	t.Calls += len(a.Calls)
	t.spend(a.Usage, a.Cost)
}

func (t *Tally) spend(u model.Usage, cost float64) {
	t.Usage, t.Cost = t.Usage.Add(u), t.Cost+max(cost, 0)
}

func (s *State) repeat(same string) *Repeat {
	i := slices.IndexFunc(s.Repeats, func(r Repeat) bool { return r.Same == same })
	if same == "" || i < 0 {
		return nil
	}
	return &s.Repeats[i]
}

// count notes what came of a call, to find calls that lead nowhere. A call with a new result that did more than read makes
// earlier results of all others worth asking for again.
func (m *machine) count(c Call, r *Result) {
	if c.Same == "" || r.Outcome == Skipped {
		return
	}
	rep := m.repeat(c.Same)
	if rep == nil {
		if len(m.Repeats) == keptRepeats {
			m.Repeats = slices.Delete(m.Repeats, 0, 1)
		}
		m.Repeats = append(m.Repeats, Repeat{Same: c.Same})
		rep = &m.Repeats[len(m.Repeats)-1]
	}
	if r.Outcome == Denied {
		if rep.Denied++; rep.Denied >= permission.MaxRefusals && m.Ending == nil {
			m.Ending = &End{Why: RefusedOver, Detail: fmt.Sprintf("The same call of %s was refused %d times. Allow it, or say what to do instead.", c.Name, rep.Denied)}
		}
		return
	}
	rep.Denied = 0
	if rep.Digest == r.Digest && rep.Times > 0 {
		rep.Times++
		return
	}
	rep.Digest, rep.Times, rep.Stopped = r.Digest, 1, 0
	if r.Changed {
		for i := range m.Repeats {
			if m.Repeats[i].Same != c.Same {
				m.Repeats[i].Times, m.Repeats[i].Stopped = 0, 0
			}
		}
	}
}

// Remark returns what a model should read behind a result that it got before in the turn, "" for nothing. A driver puts it there
// before it stores the result; the digest is that of the result without it.
func (s *State) Remark(c Call, digest string) string {
	r := s.repeat(c.Same)
	if r == nil || r.Digest != digest || r.Times+1 < sameTold {
		return ""
	}
	n := r.Times + 1
	words := fmt.Sprintf("[This is the %dth time in this turn that %s is called with these arguments and gives this result; nothing has changed in between.", n, c.Name)
	if n == 3 {
		words = fmt.Sprintf("[This is the third time in this turn that %s is called with these arguments and gives this result; nothing has changed in between.", c.Name)
	}
	if n >= sameStopped {
		return words + " The next such call will not be run: change your approach.]"
	}
	return words + " Use what you have, or look somewhere else.]"
}
