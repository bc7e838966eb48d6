package orrery_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
)

// watchers returns a system of a controller that watches two kinds, and one that watches nothing.
func watchers(t *testing.T) *core.System {
	t.Helper()
	rest := func(*plain.World, core.Request) core.Result { return core.Result{} }
	system, err := plain.Model{
		Name:    "watchers",
		Initial: []core.Initial{plain.Start(plain.NewVar[int]("x").Is(0))},
		Controllers: []plain.Controller{
			{
				Name: "team/web", Watches: []plain.Watch{{Kind: "Pod"}, {Kind: "Job.batch"}},
				Caches: []core.Kind{"ReplicaSet.apps", "Secret", "Ingress.a", "Ingress.b"}, Reconcile: rest,
			},
			{Name: "clock", Requests: []core.Request{"tick"}, Reconcile: rest},
		},
		Processes: []plain.Process{{Name: "hand", Actions: []plain.Action{{Name: "wave", Do: func(w *plain.World) { w.Require(false) }}}}},
	}.System()
	if err != nil {
		t.Fatal(err)
	}
	return system
}

// TestConditionsAreValidated checks that what does not fit the system is refused, by name, before the search and by it.
func TestConditionsAreValidated(t *testing.T) {
	for _, test := range []struct {
		options orrery.Options
		want    []string // parts of the error, none if there is none
	}{
		{orrery.Options{}, nil},
		{orrery.Options{Stale: []string{"team/web/Pod=lag(1)", "all=own-writes(2)", "team/web/Job.batch=restart(3)", "all=relist", "all=fresh"}}, nil},
		{orrery.Options{Granularity: orrery.PerCall, Crashes: 2, Failures: 1, Doubles: []string{"clock", "team/web"}}, nil},
		{orrery.Options{Granularity: "line"}, []string{`there is no granularity "line": use "reconcile" or "call"`}},
		{orrery.Options{Crashes: -1}, []string{"must not be negative"}},
		{orrery.Options{Failures: -1}, []string{"must not be negative"}},
		{orrery.Options{MaxDepth: -1}, []string{"a bound must not be negative"}},
		{orrery.Options{Stale: []string{""}}, []string{"use CONTROLLER/KIND=RULE"}},
		{orrery.Options{Stale: []string{"all"}}, []string{`staleness "all": use CONTROLLER/KIND=RULE`}},
		{orrery.Options{Stale: []string{"/Pod=lag(1)"}}, []string{"use CONTROLLER/KIND=RULE"}},
		{orrery.Options{Stale: []string{"team/web/=lag(1)"}}, []string{"use CONTROLLER/KIND=RULE"}},
		{orrery.Options{Stale: []string{"all=lag"}}, []string{`staleness "all=lag"`, "lag(2)"}},
		{orrery.Options{Stale: []string{"all=late"}}, []string{`no staleness rule "late"`, "own-writes(N)"}},
		{orrery.Options{Stale: []string{"web/Pod=lag(1)"}}, []string{`no controller "web"`, "clock, hand, team/web"}},
		{orrery.Options{Stale: []string{"team/web/Job=lag(1)"}}, nil},
		{orrery.Options{Stale: []string{"team/web/ReplicaSet=lag(1)", "team/web/Secret=lag(1)"}}, nil},
		{orrery.Options{Stale: []string{"team/web/Cron=lag(1)"}}, []string{`"team/web" does not watch "Cron"`, "Ingress.a, Ingress.b, Job.batch, Pod, ReplicaSet.apps, Secret"}},
		{orrery.Options{Stale: []string{"team/web/Ingress=lag(1)"}}, []string{`kind "Ingress" is in several groups: use one of Ingress.a, Ingress.b`}},
		{orrery.Options{Stale: []string{"clock/Pod=lag(1)"}}, []string{`controller "clock" watches nothing`}},
		{orrery.Options{Doubles: []string{"web"}}, []string{`no controller "web" that could be active twice`, "clock, hand, team/web"}},
		{orrery.Options{Crashes: 1, FaultsIn: []string{"team/web"}}, nil},
		{orrery.Options{Failures: 1, FaultsIn: []string{"team/web", "clock"}}, nil},
		{orrery.Options{Crashes: 1, FaultsIn: []string{"team/wep"}}, []string{`no controller "team/wep" that could fail: there is clock, team/web`, `did you mean "team/web" by "team/wep"?`}},
		{orrery.Options{FaultsIn: []string{"clock"}}, []string{"faults are confined to clock, but none is allowed"}},
		{orrery.Options{Crashes: 1, FaultsIn: []string{"hand"}}, []string{`"hand" has messages or standing requests`}},
		{orrery.Options{Stale: []string{"team/wob/Pod=lag(1)"}}, []string{`did you mean "team/web" by "team/wob"?`}},
		{orrery.Options{Stale: []string{"web/Pod=lag(1)"}, Doubles: []string{"db"}}, []string{`"web"`, `"db"`}},
	} {
		early := test.options.Validate(watchers(t))
		_, late := orrery.Run(context.Background(), watchers(t), test.options)
		for _, err := range []error{early, late} {
			if (err == nil) != (len(test.want) == 0) {
				t.Errorf("%+v: %v", test.options, err)
			}
			for _, want := range test.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%+v: %v, want %q", test.options, err, want)
				}
			}
		}
	}
}

// TestConditionsAreReported checks that a report says under what conditions it holds, and that they can be had again from it.
func TestConditionsAreReported(t *testing.T) {
	options := orrery.Options{
		Granularity: orrery.PerCall, Stale: []string{"all=lag(1)", "team/web/Pod=fresh"}, Crashes: 1, Failures: 2, FaultsIn: []string{"clock"}, Doubles: []string{"clock"}, Workers: 2,
	}
	for _, test := range []struct {
		options orrery.Options
		granted []string
	}{
		{orrery.Options{Workers: 2}, []string{"Each reconcile is one step", "Caches are fresh", "No crash and no failed call"}},
		{options, []string{"Each call of a reconcile is one step", "as far as this allows: all=lag(1), team/web/Pod=fresh.", "At most 1 crash and 2 failed calls happen in a run, only in clock."}},
	} {
		result, err := orrery.Run(context.Background(), watchers(t), test.options)
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(result.Report.Assumptions, "\n")
		for _, words := range test.granted {
			if !strings.Contains(said, words) {
				t.Errorf("it does not take for granted %q:\n%s", words, said)
			}
		}
		again := orrery.Options{Workers: 2}.Again(&result.Report)
		if again.Workers != 2 || string(again.Granularity) != result.Report.Granularity || again.Crashes != test.options.Crashes || again.Failures != test.options.Failures ||
			!slices.Equal(again.FaultsIn, test.options.FaultsIn) || !slices.Equal(again.Stale, test.options.Stale) || !slices.Equal(again.Doubles, test.options.Doubles) {
			t.Errorf("the conditions are %+v, want %+v", again, test.options)
		}
	}
}
