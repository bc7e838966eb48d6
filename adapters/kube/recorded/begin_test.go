package recorded_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/kube/recorded"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

// growSystem is the controller of recordGrow when it is checked.
func growSystem(t *testing.T) *core.System {
	t.Helper()
	return controllerruntime.ForTest(t, coreScheme(t), controllerruntime.Name("grow"), controllerruntime.Setup(grow))
}

// begun returns the system as it begins at a moment of a recording.
func begun(t *testing.T, system *core.System, folder, moment string) (*core.System, error) {
	t.Helper()
	sources, err := analysis.Files(folder)
	if err != nil {
		t.Fatal(err)
	}
	var at recorded.Moment
	if moment != "" {
		if at, err = recorded.ParseMoment(moment); err != nil {
			t.Fatal(err)
		}
	}
	return recorded.Begin(system, sources, at, recorded.LaterUsers)
}

// entriesOf returns the numbers of the entries of a recording that a function picks.
func entriesOf(t *testing.T, folder string, pick func(live.Entry) uint64) []uint64 {
	t.Helper()
	var all []uint64
	rewrite(t, folder, func(e live.Entry) live.Entry {
		if n := pick(e); n > 0 {
			all = append(all, n)
		}
		return e
	})
	if len(all) == 0 {
		t.Fatal("the recording has no such entry")
	}
	return all
}

func TestWhatWasUnderWay(t *testing.T) {
	folder := recordGrow(t)
	var first uint64
	var calls []live.Call
	writes := entriesOf(t, folder, func(e live.Entry) uint64 {
		switch e := e.(type) {
		case live.Begin:
			if first == 0 {
				first = e.N
			}
		case live.Call:
			calls = append(calls, e)
			if e.Verb == live.Create && e.Failed == nil {
				return e.N
			}
		}
		return 0
	})
	for _, test := range []struct {
		moment             string
		assumption, reason string
	}{
		{number(first), "had begun at", ""},
		{number(calls[0].N), "", "1 call that wrote nothing: it counts as not begun"},
		{number(writes[0]), "", "what they wrote is there, and the request is in the queue again"},
	} {
		system, err := begun(t, growSystem(t), folder, test.moment)
		if err != nil {
			t.Fatal(err)
		}
		work := system.Initial[0].Underway.Processes
		if len(work) != 1 || !slices.Contains(work[0].Queued, core.Item{Strategy: "grow", Request: "default/web"}) {
			t.Errorf("%s: %+v", test.moment, work)
		}
		if test.assumption != "" {
			wants(t, strings.Join(system.Assumptions, "\n"), test.assumption)
		}
		if wants(t, strings.Join(system.Unmodelled, "\n"), test.reason); test.reason == "" && len(system.Unmodelled) > 0 {
			t.Errorf("%s: %q", test.moment, system.Unmodelled)
		}
	}
}

// number names the moment behind an entry.
func number(n uint64) string { return "#" + strconv.FormatUint(n, 10) }

func TestTheEndOfARecordingIsQuiet(t *testing.T) {
	system := recorded.ForTest(t, growSystem(t), recordGrow(t))
	work := system.Initial[0].Underway.Processes
	if len(work) != 1 || len(work[0].Queued) > 0 || len(work[0].Behind) > 0 || len(system.Unmodelled) > 0 {
		t.Errorf("%+v, %q", work, system.Unmodelled)
	}
	var names []string
	for _, o := range system.Initial[0].Objects {
		names = append(names, o.Key.String())
	}
	if !slices.Contains(names, "ConfigMap default/web") || !slices.Contains(names, "Pod default/web") {
		t.Errorf("%q", names)
	}
}

func TestWhatCannotBeBegunIn(t *testing.T) {
	folder := recordGrow(t)
	last := entriesOf(t, folder, func(e live.Entry) uint64 {
		if d, is := e.(live.Done); is {
			return d.N
		}
		return 0
	})
	end := number(last[len(last)-1])
	gone := rewrite(t, folder, func(e live.Entry) live.Entry {
		if d, is := e.(live.Done); is && d.N == last[0] {
			return live.Gap{At: d.At, Until: d.At + time.Microsecond, Reason: live.Overload, Entries: 1}
		}
		return e
	})
	missing := rewrite(t, folder, func(e live.Entry) live.Entry {
		if d, is := e.(live.Done); is && d.N == last[0] {
			return nil
		}
		return e
	})
	unvalued := rewrite(t, folder, func(e live.Entry) live.Entry {
		if o, is := e.(live.Object); is && o.Kind == "Pod" {
			o.Value = nil
			return o
		}
		return e
	})
	podless := runtime.NewScheme()
	podless.AddKnownTypes(corev1.SchemeGroupVersion, &corev1.ConfigMap{}, &corev1.ConfigMapList{})
	withoutPods := controllerruntime.ForTest(t, podless, controllerruntime.Name("grow"), controllerruntime.Setup(grow))
	others := controllerruntime.ForTest(t, coreScheme(t), controllerruntime.Name("seats"), controllerruntime.Setup(seats))
	for _, test := range []struct {
		name, folder, moment string
		system               *core.System
		want                 string
	}{
		{"gap", gone, end, growSystem(t), "choose a moment before that"},
		{"missing entry", missing, end, growSystem(t), "entries are missing in the recording of grower/0, between entry"},
		{"no value", unvalued, end, growSystem(t), "only its name"},
		{"unknown kind", folder, end, withoutPods, "does not know Pod, of which there are objects in the recording"},
		{"another system", folder, end, others, `no controller of the system seats is in the recording, which has "grow"`},
		{"after the end", folder, "10h", growSystem(t), "is not within it"},
		{"no such entry", folder, "#100000", growSystem(t), "the recording has no entry 100000"},
		{"no time of it", folder, "2001-01-01T00:00:00Z", growSystem(t), "is not within it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := begun(t, test.system, test.folder, test.moment); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want an error with %q", err, test.want)
			}
		})
	}
}

func TestARedactedObjectIsAReason(t *testing.T) {
	folder := rewrite(t, recordGrow(t), func(e live.Entry) live.Entry {
		if o, is := e.(live.Object); is && o.Kind == "ConfigMap" {
			o.Value = []byte(strings.Replace(string(o.Value), `"owner":"kubectl"`, `"owner":"redacted:sha256:0000"`, 1))
			return o
		}
		return e
	})
	system, err := begun(t, growSystem(t), folder, "")
	if err != nil {
		t.Fatal(err)
	}
	wants(t, strings.Join(system.Unmodelled, "\n"), "Something of ConfigMap default/web is redacted")
}

func TestMoments(t *testing.T) {
	for text, want := range map[string]string{
		"12.5s": "12.5s", "#134": "entry 134", "2026-11-25T08:00:00.5Z": "2026-11-25T08:00:00.5Z",
	} {
		if m, err := recorded.ParseMoment(text); err != nil || m.String() != want {
			t.Errorf("%q is %s, %v", text, m, err)
		}
	}
	for _, text := range []string{"", "#", "#0", "#-1", "soon", "12", "-3s", "2026-11-25"} {
		if m, err := recorded.ParseMoment(text); err == nil {
			t.Errorf("%q is %s", text, m)
		}
	}
	if name, m, err := recorded.SplitMoment("a@b/recording@3s"); name != "a@b/recording" || m.String() != "3s" || err != nil {
		t.Errorf("%q %s %v", name, m, err)
	}
	if name, m, err := recorded.SplitMoment("recording"); name != "recording" || m != (recorded.Moment{}) || err != nil {
		t.Errorf("%q %s %v", name, m, err)
	}
}
