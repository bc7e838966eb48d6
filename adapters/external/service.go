package external

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// Service is a [Part] of the world that is written down in Go. Make it with [New], add tables, operations and events,
// and hand it to an adapter. It must not be added to once a system is made of it.
type Service struct {
	name        string
	tables      map[core.Kind]*records
	order       []core.Kind
	operations  map[string]*operation
	actions     []core.Action
	failures    []*Refusal
	assumptions []string
	errs        []error
}

var _ Chooser = (*Service)(nil)

// New returns a service without tables and operations. The name is what reports call it; it has letters, digits and
// dashes.
func New(name string) *Service {
	return &Service{name: name, tables: map[core.Kind]*records{}, operations: map[string]*operation{}}
}

// Failures are refusals that any operation may meet before it does anything, where a check lets calls fail, besides a
// call that takes too long. Each makes a search larger: give those that clients can tell apart, such as one for "try
// again later".
func (s *Service) Failures(refusals ...*Refusal) {
	for _, refusal := range refusals {
		if refusal == nil {
			s.Mistake("a failure is nil")
			continue
		}
		s.failures = append(s.failures, refusal)
	}
}

// Action adds what somebody may do to the service behind the back of the controllers: once, at any moment, or never. do
// must do the same each time it is called. An error means that it was refused, and given up.
func (s *Service) Action(name string, do func(context.Context, *Client) error) {
	if do == nil {
		s.Mistake("the action %q does nothing", name)
		return
	}
	s.actions = append(s.actions, core.Action{Name: s.name + ": " + name, Do: func(recorder core.EffectRecorder) error {
		return do(context.Background(), Recorded(recorder))
	}})
}

// Assume adds a sentence to the assumptions of reports: what the service takes for granted.
func (s *Service) Assume(format string, args ...any) {
	s.assumptions = append(s.assumptions, fmt.Sprintf(format, args...))
}

// Mistake notes a mistake in the definition, for [Service.Validate] to return: for packages that define services from
// options of their own.
func (s *Service) Mistake(format string, args ...any) {
	s.errs = append(s.errs, fmt.Errorf(format, args...))
}

// Name implements [Part].
func (s *Service) Name() string { return s.name }

// Validate implements [Part].
func (s *Service) Validate() error {
	if len(s.operations) == 0 {
		return errors.Join(append(s.errs, errors.New("the service has no operations, so that nobody could ask it for anything: add one with NewOperation or NewQuery"))...)
	}
	return errors.Join(s.errs...)
}

// Store implements [Part].
func (s *Service) Store() core.Store { return store{s} }

// Owns implements [Part].
func (s *Service) Owns(kind core.Kind) bool { return s.tables[kind] != nil || s.late(kind) != nil }

// Chosen implements [Chooser].
func (s *Service) Chosen(kind core.Kind) bool { return s.tables[kind] != nil && s.tables[kind].chosen }

// Kinds implements [Part]: no kind of a service is read through a cache.
func (s *Service) Kinds() []core.Kind { return nil }

// Actions implements [Part].
func (s *Service) Actions() []core.Action { return slices.Clone(s.actions) }

// Assumptions implements [Part].
func (s *Service) Assumptions() []string {
	all := slices.Clone(s.assumptions)
	if len(s.Players()) > 0 {
		all = append(all, fmt.Sprintf("What %s does by itself comes before any timer fires, as all steps do that are possible.", s.name))
	}
	for _, kind := range s.order {
		if lag := s.tables[kind].lag; lag > 0 {
			all = append(all, fmt.Sprintf("What %s answers may lag at most %s behind for each %s, and a record that was shown is not shown in an older version again.", s.name, changes(lag), kind))
		}
	}
	return all
}

func changes(n int) string {
	if n == 1 {
		return "1 change"
	}
	return fmt.Sprintf("%d changes", n)
}

// Initial implements [Part].
func (s *Service) Initial() ([]core.Object, error) {
	var objects []core.Object
	for _, kind := range s.order {
		initial := s.tables[kind].initial
		for _, name := range slices.Sorted(maps.Keys(initial)) {
			objects = append(objects, core.Object{Key: core.Key{Kind: kind, Name: name}, Content: record{text: initial[name]}})
		}
	}
	return objects, nil
}

// Players implements [Part]: if there are events, who lets them happen.
func (s *Service) Players() []core.Strategy {
	for _, o := range s.operations {
		if o.event {
			return []core.Strategy{player{s}}
		}
	}
	return nil
}

// store answers for a service.
type store struct{ service *Service }

var _ core.Noting = store{}

// Notes implements [core.Noting].
func (s store) Notes(state core.Snapshot, name string) bool {
	for _, kind := range slices.Sorted(maps.Keys(s.service.tables)) {
		for _, o := range state.List(kind, "") {
			if text, _ := textOf(o.Content); strings.Contains(o.Key.Name, name) || strings.Contains(text, name) {
				return true
			}
		}
	}
	return false
}

// Answer implements [core.Store]. It computes the answer twice, as what depends on more than what was read would not be
// the same in each run.
func (s store) Answer(snapshot core.Snapshot, asked core.Call) (core.Answer, error) {
	c, ok := asked.(*call)
	if !ok {
		return core.Answer{}, &core.Unsupported{Call: asked.String(), Reason: fmt.Sprintf("%s answers calls of its own clients only", s.service.name)}
	}
	operation := s.service.operations[c.operation]
	if operation == nil {
		return core.Answer{}, &core.Unsupported{Call: asked.String(), Reason: fmt.Sprintf("%s has no operation %q: two services may have the same name", s.service.name, c.operation)}
	}
	answer, err := s.answer(snapshot, operation, c.input)
	if err != nil {
		return core.Answer{}, err
	}
	again, err := s.answer(snapshot, operation, c.input)
	if err != nil {
		return core.Answer{}, err
	}
	if difference := differ(answer, again); difference != "" {
		return core.Answer{}, fmt.Errorf("%s gives two answers to %q in one state: %s. It must depend on nothing but its arguments and what it reads: no clock, no chance, no variable that changes, no order of a map",
			s.service.name, operation.name, difference)
	}
	return answer, nil
}

// answer lets an operation do its work once.
func (s store) answer(snapshot core.Snapshot, o *operation, input string) (core.Answer, error) {
	t := &Transaction{service: s.service, snapshot: snapshot, reads: o.reads, name: o.name, written: map[core.Key]*string{}}
	output, words, err := o.do(t, input)
	if t.err != nil {
		return core.Answer{}, t.err
	}
	if refused := err; refused != nil { // so that nothing has taken place
		return core.Answer{Response: &response{refusal: refusalOf(refused)}}, nil
	}
	answer := core.Answer{Response: &response{output: output, words: words}, Enqueue: t.enqueued}
	for _, key := range t.order {
		if write, is := t.write(key); is {
			answer.Writes = append(answer.Writes, write...)
		}
	}
	if t.err != nil {
		return core.Answer{}, t.err
	}
	if o.reads && len(answer.Writes) > 0 {
		return core.Answer{}, t.stop("it changes %s, and is a query: add it with NewOperation", answer.Writes[0].Key)
	}
	answer.Writes = append(answer.Writes, t.shown...)
	answer.Enqueue = append(answer.Enqueue, t.catchUp...)
	return answer, nil
}

// differ says how two answers differ, empty if they do not.
func differ(one, other core.Answer) string {
	if a, b := one.Response, other.Response; a.Identity() != b.Identity() {
		return fmt.Sprintf("%s, and %s", a, b)
	}
	same := func(a, b core.Write) bool {
		if a.Content == nil || b.Content == nil {
			return a.Key == b.Key && a.Content == b.Content
		}
		return a.Key == b.Key && a.Content.Canonical() == b.Content.Canonical()
	}
	if !slices.EqualFunc(one.Writes, other.Writes, same) {
		return "it does not write the same both times"
	}
	if !slices.Equal(one.Enqueue, other.Enqueue) {
		return "other events are to follow"
	}
	return ""
}

// Faults implements [core.Store].
func (s store) Faults(asked core.Call) []core.Fault {
	c, ok := asked.(*call)
	if !ok {
		return nil
	}
	late := &response{refusal: &Refusal{Code: TimedOut, Message: "there was no answer in time"}}
	faults := []core.Fault{{Name: "timeout", Response: late}}
	for _, refusal := range s.service.failures {
		faults = append(faults, core.Fault{Name: refusal.Error(), Response: &response{refusal: refusal}})
	}
	if !c.reads {
		faults = append(faults, core.Fault{Name: "committed, but the answer is lost", Response: late, Commits: true})
	}
	return faults
}

// Normalize implements [core.Store]: nothing in a table counts up but what the user makes count.
func (s store) Normalize(_ core.Key, versions []core.Content, _ []bool) []core.Content {
	return versions
}

// Outcome implements [core.Store].
func (s store) Outcome(key core.Key, content core.Content) any {
	table := s.service.tables[key.Kind]
	if table == nil {
		return nil // which versions reads still show does not matter in the end
	}
	return table.outcome(content)
}

// CanonicalOutcome implements [core.Store]: names that a service has chosen are replaced by who composes.
func (s store) CanonicalOutcome(_ []core.Object, outcome map[core.Key]any) map[core.Key]any {
	return outcome
}

// player lets the events of a service happen. Its requests are messages: they are there because a transaction has sent
// them.
type player struct{ service *Service }

var (
	_ core.Strategy = player{}
	_ core.Instance = player{}
)

// Describe implements [core.Strategy].
func (p player) Describe() core.Description {
	return core.Description{Name: p.service.name, Messages: true, Sequential: true}
}

// New implements [core.Strategy].
func (p player) New() (core.Instance, error) { return p, nil }

// Handle implements [core.Instance]: a service watches nothing.
func (p player) Handle(core.EffectRecorder, core.Event) []core.Request { return nil }

// Reconcile implements [core.Instance]: it lets one event happen.
func (p player) Reconcile(recorder core.EffectRecorder, request core.Request) core.Result {
	c, err := p.service.happening(request)
	if err != nil {
		return core.Result{Err: err}
	}
	if answer, ok := recorder.Do(c).(*response); ok && answer.refusal != nil {
		return core.Result{Err: answer.refusal}
	}
	return core.Result{}
}
