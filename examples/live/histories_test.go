package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/analysis"
	"github.com/orrery-dev/orrery/record/live/foreign"
)

// incarnation is an object from its creation to its deletion.
type incarnation struct {
	core.Key
	uid string
}

// history is what is known of an object: its versions by resource version, and whether it was deleted.
type history struct {
	versions map[string]any
	gone     bool
}

// historiesOf returns the histories of the objects that controllers of JobSet are about.
func historiesOf(t *testing.T, sources []analysis.Source) map[incarnation]*history {
	t.Helper()
	all := map[incarnation]*history{}
	of := func(o live.Object) *history {
		at := incarnation{o.Key, o.UID}
		if all[at] == nil {
			all[at] = &history{versions: map[string]any{}}
		}
		return all[at]
	}
	var file []live.Object // that is being read
	shows := func(number int) {
		o := file[number-1]
		switch o.Kind {
		case "JobSet.jobset.x-k8s.io", "Job.batch", "Service":
			var value any
			if err := json.Unmarshal(o.Value, &value); err != nil {
				t.Fatalf("%s@%s: %v", o.Key, o.ResourceVersion, err)
			}
			of(o).versions[o.ResourceVersion] = said(value)
		}
	}
	if _, err := analysis.Walk(sources, func(at analysis.Place, e live.Entry) error {
		switch e := e.(type) {
		case live.Object:
			file = append(file[:at.Object-1], e)
		case live.Call:
			for _, number := range e.Answer {
				shows(number)
			}
		case live.Event:
			if e.Type == live.Deleted {
				of(file[e.Object-1]).gone = true // in a version of its own, which no call answers
				return nil
			}
			shows(e.Object)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// said returns a value without what is as if it were not there: a client with types writes it down, and a server that has none does not.
func said(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			if inner = said(inner); inner != nil {
				out[key] = inner
			}
		}
		if len(out) > 0 {
			return out
		}
	case []any:
		var out []any
		for _, inner := range v {
			out = append(out, said(inner))
		}
		if len(out) > 0 {
			return out
		}
	case string:
		if v != "" {
			return v
		}
	case float64:
		if v != 0 {
			return v
		}
	case bool:
		if v {
			return v
		}
	}
	return nil
}

// sameHistories holds a recording against the audit log of the same run: each version that a controller saw is in the log, as it saw it, and so is each deletion. If they
// saw all, nothing else is.
func sameHistories(t *testing.T, recording []analysis.Source, log string, all bool) {
	t.Helper()
	imported := filepath.Join(t.TempDir(), "audit.ort")
	out, err := os.Create(imported)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	err = foreign.Audit([]foreign.File{{Name: log, Open: func() (io.ReadCloser, error) { return os.Open(log) }}}, out, foreign.Options{Name: "audit"})
	if err != nil {
		t.Fatal(err)
	}
	sources, err := analysis.Files(imported)
	if err != nil {
		t.Fatal(err)
	}
	seen, logged := historiesOf(t, recording), historiesOf(t, sources)
	versions := 0
	for of, history := range seen {
		in := logged[of]
		if len(history.versions) == 0 {
			continue // of another kind
		}
		if in == nil {
			t.Errorf("%s is not in the audit log", of.Key)
			continue
		}
		if history.gone != in.gone {
			t.Errorf("%s: deleted %v in the recording, %v in the audit log", of.Key, history.gone, in.gone)
		}
		for rv, value := range history.versions {
			versions++
			if !reflect.DeepEqual(value, in.versions[rv]) {
				t.Errorf("%s@%s: a controller saw\n%v\nand the audit log has\n%v", of.Key, rv, value, in.versions[rv])
			}
		}
		if all && len(history.versions) != len(in.versions) {
			t.Errorf("%s: %d versions in the recording, %d in the audit log", of.Key, len(history.versions), len(in.versions))
		}
	}
	if versions == 0 {
		t.Error("the recording has no versions")
	}
	t.Logf("%d versions are the same in the audit log", versions)
}
