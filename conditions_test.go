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
		{orrery.Options{Stale: []orrery.Staleness{{Controller: "team/web", Kind: "Pod", Rule: orrery.Lag(1)}, {Rule: orrery.OwnWrites(2)}, {Controller: "team/web", Kind: "Job.batch", Rule: orrery.Restart(3)}, {Rule: orrery.Relist}, {Rule: orrery.Fresh}}}, nil},
		{orrery.Options{Granularity: orrery.PerCall, Crashes: 2, Failures: 1, Doubles: []string{"clock", "team/web"}}, nil},
		{orrery.Options{Granularity: "line"}, []string{`there is no granularity "line": use "reconcile" or "call"`}},
		{orrery.Options{Stale: []orrery.Staleness{{Rule: "late"}}}, []string{`staleness "all=late": there is no rule "late"`, "own-writes(N)"}},
		{orrery.Options{Stale: []orrery.Staleness{{Rule: orrery.Lag(-1)}}}, []string{`staleness "all=lag(-1)"`, "a whole number from 0"}},
		{orrery.Options{Stale: []orrery.Staleness{{}, {Controller: "team/web"}, {Kind: "Pod", Rule: orrery.Lag(0)}}}, nil},
		{orrery.Options{Crashes: -1}, []string{"must not be negative"}},
		{orrery.Options{Failures: -1}, []string{"must not be negative"}},
		{orrery.Options{MaxDepth: -1}, []string{"a limit must not be negative"}},
		{orrery.Options{Stale: []orrery.Staleness{{Controller: "web", Kind: "Pod", Rule: orrery.Lag(1)}}}, []string{`no controller "web"`, "clock, hand, team/web"}},
		{orrery.Options{Stale: []orrery.Staleness{{Controller: "team/web", Kind: "Job", Rule: orrery.Lag(1)}}}, nil},
		{orrery.Options{Stale: []orrery.Staleness{{Controller: "team/web", Kind: "ReplicaSet", Rule: orrery.Lag(1)}, {Controller: "team/web", Kind: "Secret", Rule: orrery.Lag(1)}}}, nil},
		{orrery.Options{Stale: []orrery.Staleness{{Controller: "team/web", Kind: "Cron", Rule: orrery.Lag(1)}}}, []string{`"team/web" does not watch "Cron"`, "Ingress.a, Ingress.b, Job.batch, Pod, ReplicaSet.apps, Secret"}},
		{orrery.Options{Stale: []orrery.Staleness{{Controller: "team/web", Kind: "Ingress", Rule: orrery.Lag(1)}}}, []string{`kind "Ingress" is in several groups: use one of Ingress.a, Ingress.b`}},
		{orrery.Options{Stale: []orrery.Staleness{{Controller: "clock", Kind: "Pod", Rule: orrery.Lag(1)}}}, []string{`controller "clock" watches nothing`}},
		{orrery.Options{Doubles: []string{"web"}}, []string{`no controller "web" to run twice`, "clock, hand, team/web"}},
		{orrery.Options{Crashes: 1, FaultsIn: []string{"team/web"}}, nil},
		{orrery.Options{Failures: 1, FaultsIn: []string{"team/web", "clock"}}, nil},
		{orrery.Options{Crashes: 1, FaultsIn: []string{"team/wep"}}, []string{`no controller "team/wep" that can fail: use one of clock, team/web`, `did you mean "team/web" instead of "team/wep"?`}},
		{orrery.Options{FaultsIn: []string{"clock"}}, []string{"names clock, but no faults are allowed"}},
		{orrery.Options{Crashes: 1, FaultsIn: []string{"hand"}}, []string{`"hand" has messages or guarded actions`}},
		{orrery.Options{Stale: []orrery.Staleness{{Controller: "team/wob", Kind: "Pod", Rule: orrery.Lag(1)}}}, []string{`did you mean "team/web" instead of "team/wob"?`}},
		{orrery.Options{Stale: []orrery.Staleness{{Controller: "all", Kind: "Pod", Rule: orrery.Lag(1)}}}, []string{"to mean all of them, name none"}},
		{orrery.Options{Stale: []orrery.Staleness{{Controller: "web", Kind: "Pod", Rule: orrery.Lag(1)}}, Doubles: []string{"db"}}, []string{`"web"`, `"db"`}},
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

// again returns the options with the conditions of a report.
func again(t *testing.T, options orrery.Options, report *core.Report) orrery.Options {
	t.Helper()
	options, err := options.Again(report)
	if err != nil {
		t.Fatal(err)
	}
	return options
}

// TestConditionsAreReported checks that a report says under what conditions it holds, and that they can be had again
// from it.
func TestConditionsAreReported(t *testing.T) {
	options := orrery.Options{
		Granularity: orrery.PerCall, Stale: []orrery.Staleness{{Rule: orrery.Lag(1)}, {Controller: "team/web", Kind: "Pod", Rule: orrery.Fresh}}, Crashes: 1, Failures: 2, FaultsIn: []string{"clock"}, Doubles: []string{"clock"}, Workers: 2,
	}
	for _, test := range []struct {
		options orrery.Options
		granted []string
	}{
		{orrery.Options{Workers: 2}, []string{"Each reconcile is one step", "Caches are fresh", "No controller crashes, and no call fails"}},
		{options, []string{"Each call of a reconcile is one step", "as these rules allow: all=lag(1), team/web/Pod=fresh.", "At most 1 crash and 2 failed calls happen in a run, only in clock."}},
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
		same := again(t, orrery.Options{Workers: 2}, &result.Report)
		if same.Workers != 2 || string(same.Granularity) != result.Report.Granularity || same.Crashes != test.options.Crashes || same.Failures != test.options.Failures ||
			!slices.Equal(same.FaultsIn, test.options.FaultsIn) || !slices.Equal(same.Stale, test.options.Stale) || !slices.Equal(same.Doubles, test.options.Doubles) {
			t.Errorf("the conditions are %+v, want %+v", same, test.options)
		}
	}
}

// TestStalenessIsParsed reads and writes staleness as text.
func TestStalenessIsParsed(t *testing.T) {
	for text, want := range map[string]orrery.Staleness{
		"all=lag(1)":            {Rule: orrery.Lag(1)},
		"team/web/Pod=relist":   {Controller: "team/web", Kind: "Pod", Rule: orrery.Relist},
		"team/web/*=restart(2)": {Controller: "team/web", Rule: orrery.Restart(2)},
		"*/Job.batch=fresh":     {Kind: "Job.batch", Rule: orrery.Fresh},
		"web/Pod=own-writes(3)": {Controller: "web", Kind: "Pod", Rule: orrery.OwnWrites(3)},
	} {
		got, err := orrery.ParseStaleness(text)
		if err != nil || !slices.Equal(got, []orrery.Staleness{want}) || want.String() != text {
			t.Errorf("%s: %+v, written %s, error %v", text, got, want, err)
		}
	}
	if all, err := orrery.ParseStaleness("*/*=lag(1)"); err != nil || all[0].String() != "all=lag(1)" {
		t.Errorf("all of all is %v, error %v", all, err)
	}
	for text, want := range map[string]string{
		"":                 "use CONTROLLER/KIND=RULE",
		"all":              `staleness "all": use CONTROLLER/KIND=RULE`,
		"/Pod=lag(1)":      "use CONTROLLER/KIND=RULE",
		"team/web/=lag(1)": "use CONTROLLER/KIND=RULE",
		"all=":             `staleness "all=": there is no rule ""`,
		"all=lag":          `staleness "all=lag": rule "lag": write lag(N)`,
		"all=late":         `there is no rule "late": use fresh, lag(N), own-writes(N), restart(N) or relist`,
	} {
		if _, err := orrery.ParseStaleness("all=fresh", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}
