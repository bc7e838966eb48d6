package recorded_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/kube/recorded"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

// namesOf returns the names of the actions of a system, without versions.
func namesOf(system *core.System) []string {
	var names []string
	for _, action := range system.Scenario.Actions {
		name, _, _ := strings.Cut(action.Name, "@")
		names = append(names, name)
	}
	return names
}

func TestWhatUsersDidLater(t *testing.T) {
	folder := recordGrow(t)
	// A version of somebody who only writes a status, one of a component, and a deletion, all later than what happened.
	var last live.Object
	var n uint64
	var at time.Duration
	rewrite(t, folder, func(e live.Entry) live.Entry {
		switch e := e.(type) {
		case live.Object:
			if e.Kind == "Pod" && len(e.Value) > 0 {
				last = e
			}
		case live.Done:
			n, at = e.N, e.At
		}
		return e
	})
	if last.Name == "" {
		t.Fatal("there is no Pod in the recording")
	}
	objects := 0
	later := rewrite(t, folder, func(e live.Entry) live.Entry {
		if _, is := e.(live.Object); is {
			objects++
		}
		return e
	})
	version := func(rv, tier, phase string) live.Object {
		var tree map[string]any
		if err := json.Unmarshal(last.Value, &tree); err != nil {
			t.Fatal(err)
		}
		tree["metadata"].(map[string]any)["labels"] = map[string]any{"tier": tier}
		tree["status"] = map[string]any{"phase": phase}
		o := last
		o.ResourceVersion = rv
		var err error
		if o.Value, err = json.Marshal(tree); err != nil {
			t.Fatal(err)
		}
		return o
	}
	later = extended(t, later, objects, n, at, []live.Object{version("901", "n1", "Running"), version("902", "n1", "Failed")}, version("903", "n1", "Failed"))

	for _, test := range []struct {
		which recorded.Later
		want  []string
	}{
		{recorded.LaterUsers, []string{"grower changes Pod default/web", "somebody deletes Pod default/web"}},
		{recorded.LaterAll, []string{"grower changes Pod default/web", "grower changes the status of Pod default/web", "somebody deletes Pod default/web"}},
		{recorded.LaterNone, nil},
	} {
		sources, err := analysis.Files(later)
		if err != nil {
			t.Fatal(err)
		}
		moment, err := recorded.ParseMoment(number(n))
		if err != nil {
			t.Fatal(err)
		}
		system, err := recorded.Begin(growSystem(t), sources, moment, test.which)
		if err != nil {
			t.Fatal(err)
		}
		if names := namesOf(system); !slices.Equal(names, test.want) {
			t.Errorf("%s: %q, want %q", test.which, names, test.want)
		}
		if test.which == recorded.LaterAll {
			canAllBeDone(t, system)
		}
	}
}

// canAllBeDone checks that the actions can be taken, and that what they write is there then.
func canAllBeDone(t *testing.T, system *core.System) {
	t.Helper()
	space := explored(t, system, explore.Options{Run: behavior.Limits{Deadline: 10 * time.Second, Calls: 100}})
	running, gone := false, false
	for id := range core.StateID(space.States()) {
		pods := space.State(id).List("Pod", "default")
		gone = gone || len(pods) == 0
		running = running || len(pods) == 1 && strings.Contains(pods[0].Content.Canonical(), `"tier":"n1"`) && strings.Contains(pods[0].Content.Canonical(), `"phase":"Failed"`)
	}
	if !running || !gone {
		t.Errorf("running %t, gone %t", running, gone)
	}
}

// extended adds versions of an object that a handler receives, and its deletion, to a recording.
func extended(t *testing.T, folder string, objects int, n uint64, at time.Duration, versions []live.Object, last live.Object) string {
	t.Helper()
	var add []live.Entry
	event := func(kind string, o live.Object) {
		objects++
		n++
		at += time.Microsecond
		add = append(add, o, live.Event{N: n, At: at, Controller: "grow", Type: kind, Object: objects})
	}
	for _, o := range versions {
		event(live.Updated, o)
	}
	event(live.Deleted, last)
	return rewriteWith(t, folder, func(e live.Entry) live.Entry {
		if _, is := e.(live.End); is {
			return nil
		}
		return e
	}, add)
}
