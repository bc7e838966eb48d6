package external_test

import (
	"cmp"
	"maps"
	"slices"

	"github.com/orrery-dev/orrery/adapters/external"
	"github.com/orrery-dev/orrery/core"
)

// state is a state with one part of a world in it, and what is to happen there.
type state struct {
	t       test
	store   core.Store
	objects map[core.Key]core.Content
	items   []core.Item
	players []core.Strategy
}

// test is a test, of the library or of rapid.
type test interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// begin returns the state at the start.
func begin(t test, part external.Part) *state {
	t.Helper()
	store, err := external.Compose(strange{}, part)
	if err != nil {
		t.Fatal(err)
	}
	initial, err := part.Initial()
	if err != nil {
		t.Fatal(err)
	}
	s := &state{t: t, store: store, objects: map[core.Key]core.Content{}, players: part.Players()}
	for _, o := range initial {
		s.objects[o.Key] = o.Content
	}
	return s
}

// Do implements [core.EffectRecorder].
func (s *state) Do(call core.Call) core.Response {
	s.t.Helper()
	answer, err := s.store.Answer(s, call)
	if err != nil {
		s.t.Fatalf("%s: %v", call, err)
	}
	for _, write := range answer.Writes {
		if write.Content == nil {
			delete(s.objects, write.Key)
			continue
		}
		s.objects[write.Key] = write.Content
	}
	for _, item := range answer.Enqueue {
		if !slices.Contains(s.items, item) {
			s.items = append(s.items, item)
		}
	}
	return answer.Response
}

// happen lets the first event happen whose request begins so, and reports whether there is one.
func (s *state) happen(request core.Request) bool {
	s.t.Helper()
	for i, item := range s.items {
		if len(item.Request) < len(request) || item.Request[:len(request)] != request {
			continue
		}
		s.items = slices.Delete(s.items, i, i+1)
		instance, err := s.players[0].New()
		if err != nil {
			s.t.Fatal(err)
		}
		if result := instance.Reconcile(s, item.Request); result.Err != nil {
			s.t.Fatal(result.Err)
		}
		return true
	}
	return false
}

func (s *state) Get(key core.Key) core.Content { return s.objects[key] }

func (s *state) List(kind core.Kind, namespace string) []core.Object {
	var found []core.Object
	for _, key := range slices.SortedFunc(maps.Keys(s.objects), core.Key.Compare) {
		if key.Kind == kind && cmp.Or(namespace, key.Namespace) == key.Namespace {
			found = append(found, core.Object{Key: key, Content: s.objects[key]})
		}
	}
	return found
}

func (s *state) Held(core.Key) []core.Content { return nil }

// strange is a main store that answers nothing.
type strange struct{}

func (strange) Answer(_ core.Snapshot, call core.Call) (core.Answer, error) {
	return core.Answer{}, &core.Unsupported{Call: call.String(), Reason: "nothing is here"}
}
func (strange) Normalize(_ core.Key, versions []core.Content, _ []bool) []core.Content {
	return versions
}
func (strange) Outcome(_ core.Key, c core.Content) any { return c.Fields() }
func (strange) Faults(core.Call) []core.Fault          { return nil }
func (strange) CanonicalOutcome(_ []core.Object, outcome map[core.Key]any) map[core.Key]any {
	return outcome
}
