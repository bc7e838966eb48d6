package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

func subjects(t testing.TB) []Subject {
	t.Helper()
	all, err := Subjects()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestGeneratorIsAFunctionOfItsSeed(t *testing.T) {
	all := subjects(t)
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		length := rapid.IntRange(1, 20).Draw(t, "length")
		one, two := newGenerator(seed, all), newGenerator(seed, all)
		for range 3 {
			a, b := one.sequence(length), two.sequence(length)
			if a.String() != b.String() {
				t.Fatalf("one seed gives\n%s\nand\n%s", a, b)
			}
			if len(a) != length {
				t.Fatalf("a sequence of length %d has %d actions", length, len(a))
			}
		}
	})
}

func TestGeneratorMakesEveryMove(t *testing.T) {
	g := newGenerator(1, subjects(t))
	seen := map[Verb]bool{}
	for range 100 {
		for _, a := range g.sequence(10) {
			seen[a.Verb] = true
		}
	}
	for _, verb := range []Verb{Get, List, Create, Update, Patch, Apply, Delete, DeleteAllOf, Raw} {
		if !seen[verb] {
			t.Errorf("nobody asks for %s", verb)
		}
	}
}

// TestSimulatedAlone runs sequences on the simulated server: nothing may fail in the
// client or in the harness, and the same sequence must give the same.
func TestSimulatedAlone(t *testing.T) {
	all := subjects(t)
	simulated, err := NewSimulated(all)
	if err != nil {
		t.Fatal(err)
	}
	g := newGenerator(1, all)
	for range 50 {
		sequence := g.sequence(10)
		var before []string
		for _, suffix := range []string{"-r00001", "-r00002"} {
			seen := observeAlone(t, simulated, all, sequence, suffix)
			if before != nil && !slices.Equal(seen, before) {
				t.Fatalf("two runs differ:\n%s\n%s", strings.Join(before, "\n"), strings.Join(seen, "\n"))
			}
			before = seen
		}
	}
}

func observeAlone(t *testing.T, simulated *Simulated, all []Subject, sequence Sequence, suffix string) []string {
	t.Helper()
	side, _, err := simulated.Begin(t.Context(), suffix)
	if err != nil {
		t.Fatal(err)
	}
	o := &observer{side: side, renaming: newRenaming(suffix, nil), cast: all[:1]}
	var observations []string
	for _, action := range sequence {
		seen, err := o.observe(t.Context(), action)
		if err != nil {
			t.Fatalf("%s: %v", action, err)
		}
		text, err := json.Marshal(seen)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), suffix) {
			t.Fatalf("%s: the suffix of the run is left in %s", action, text)
		}
		observations = append(observations, string(text))
	}
	return observations
}

func TestRenaming(t *testing.T) {
	r := newRenaming("-r00007", []Normalisation{
		{Path: "metadata.managedFields", Treatment: Drop},
		{Kind: "Service", Path: "spec.ports[*].nodePort", Treatment: Mask},
		{Kind: "Service", Path: "spec.clusterIPs", Except: "None", Treatment: Mask},
	})
	object := func(version, address string) tree {
		return tree{
			"metadata": tree{
				"name": "a-r00007", "namespace": "one-r00007", "uid": "c0ffee00-0000-4000-8000-000000000001",
				"resourceVersion": version, "creationTimestamp": "2000-01-01T00:00:00Z", "managedFields": []any{},
			},
			"spec": tree{
				"clusterIPs": []any{address}, "ports": []any{tree{"nodePort": int64(31234)}},
				"since": "2020-01-01T00:00:00Z", "owner": "c0ffee00-0000-4000-8000-000000000001", "other": "gen-r00007-x7x7x",
			},
		}
	}
	for _, test := range []struct{ version, address, wantVersion, wantAddress string }{
		{"100", "10.0.0.1", "version 1", `"(set)"`},
		{"107", "None", "version 2", `["None"]`},
		{"100", "10.0.0.2", "version 1", `"(set)"`},
	} {
		got, err := json.Marshal(r.object("Service", object(test.version, test.address)))
		if err != nil {
			t.Fatal(err)
		}
		want := `{"metadata":{"creationTimestamp":"now","name":"a-run","namespace":"one-run","resourceVersion":"` + test.wantVersion +
			`","uid":"uid of Service one-run/a-run"},"spec":{"clusterIPs":` + test.wantAddress +
			`,"other":"gen-run-(generated)","owner":"uid of Service one-run/a-run","ports":[{"nodePort":"(set)"}],"since":"2020-01-01T00:00:00Z"}}`
		if string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestCompareFindsDifferences shows that the comparison can fail.
func TestCompareFindsDifferences(t *testing.T) {
	stored := func(value string) tree { return tree{"ConfigMap one-run/a-run": tree{"data": tree{"a": value}}} }
	refused := func(code int64, message string) Answer {
		return Answer{Refused: tree{"code": code, "reason": "Conflict", "message": message}}
	}
	done := Answer{Object: tree{"data": tree{"a": "1"}}}
	for _, test := range []struct {
		name        string
		real, other Observation
		want        []string
	}{
		{"the same", Observation{Answer: done, Stored: stored("1")}, Observation{Answer: done, Stored: stored("1")}, nil},
		{"the outcome", Observation{Answer: done}, Observation{Answer: refused(409, "no")}, []string{"outcome"}},
		{"the code", Observation{Answer: refused(409, "no")}, Observation{Answer: refused(404, "no")}, []string{"outcome"}},
		{"the message", Observation{Answer: refused(409, "no")}, Observation{Answer: refused(409, "never")}, []string{"answer"}},
		{"the store", Observation{Answer: done, Stored: stored("1")}, Observation{Answer: done, Stored: stored("2")}, []string{"stored ConfigMap one-run/a-run"}},
		{"an object", Observation{Answer: done, Stored: stored("1")}, Observation{Answer: done}, []string{"stored ConfigMap one-run/a-run"}},
		{
			"answer and store alike",
			Observation{Answer: Answer{Object: tree{"data": tree{"a": "1"}}}, Stored: stored("1")},
			Observation{Answer: Answer{Object: tree{"data": tree{"a": "2"}}}, Stored: stored("2")},
			[]string{"answer"},
		},
	} {
		var got []string
		for _, d := range compare(Action{Verb: Get, Subject: "ConfigMap"}, test.real, test.other) {
			got = append(got, d.Place)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got differences in %q, want %q", test.name, got, test.want)
		}
	}
}

// TestWorldForgets writes one object for longer than a World remembers.
func TestWorldForgets(t *testing.T) {
	simulated, err := NewSimulated(subjects(t))
	if err != nil {
		t.Fatal(err)
	}
	_, world, err := simulated.Begin(t.Context(), "-r00001")
	if err != nil {
		t.Fatal(err)
	}
	kind := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	write := func(verb kube.Verb, name string, n int) {
		body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"n":"%d"}}`, n)
		response := world.Do(&kube.Request{Verb: verb, Kind: kind, Namespace: "one-r00001", Name: name, Body: []byte(body)})
		if err := response.(*kube.Response).Err(); err != nil {
			t.Fatal(err)
		}
	}
	write(kube.Create, "", 0)
	for n := range remembered + 9 {
		write(kube.Update, "c", n+1)
	}
	key := core.Key{Kind: "ConfigMap", Namespace: "one-r00001", Name: "c"}
	held := world.Held(key)
	if len(held) != remembered {
		t.Errorf("%d versions are held, want %d", len(held), remembered)
	}
	before := held[len(held)-1].Fields().(map[string]any)["data"].(map[string]any)["n"]
	if want := fmt.Sprint(remembered + 8); before != want {
		t.Errorf("the last version that is held is %v, want %s", before, want)
	}
}
