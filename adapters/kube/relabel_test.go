package kube

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/rand"
	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// web is objects with generated names that refer to each other.
type web struct {
	// bases and colours are those of the objects, refers how each refers to each. Names of the last two bases are not
	// generated, but end with words that somebody drew.
	bases, colours []int
	refers         [][]int
	// apart are the objects that are in a namespace of their own.
	apart []bool
}

// The ways in which an object may refer to another one.
const (
	noReference = iota
	byOwner
	byName
	byDerivedName
	byKey
	byUID
	inSet
	byOldSum
	references
)

func drawWeb(t *rapid.T) web {
	n := rapid.IntRange(1, 4).Draw(t, "objects")
	var w web
	for range n {
		w.bases = append(w.bases, rapid.SampledFrom([]int{0, 0, 0, 1, 2, 2, 3}).Draw(t, "base"))
		w.colours = append(w.colours, rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "colour"))
		w.apart = append(w.apart, rapid.SampledFrom([]bool{false, false, true}).Draw(t, "apart"))
		var refers []int
		for range n {
			refers = append(refers, rapid.SampledFrom([]int{0, 0, 0, byOwner, byName, byDerivedName, byKey, byUID, inSet, byOldSum}).Draw(t, "reference"))
		}
		w.refers = append(w.refers, refers)
	}
	return w
}

// renamed is the web with its objects in another order.
func (w web) renamed(order []int) web {
	n := len(order)
	r := web{bases: make([]int, n), colours: make([]int, n), apart: make([]bool, n), refers: make([][]int, n)}
	for i, to := range order {
		r.bases[to], r.colours[to], r.apart[to] = w.bases[i], w.colours[i], w.apart[i]
		r.refers[to] = make([]int, n)
		for j, kind := range w.refers[i] {
			r.refers[to][order[j]] = kind
		}
	}
	return r
}

func (w web) text() string { return fmt.Sprint(w.bases, w.colours, w.refers, w.apart) }

// same reports whether one web is another one with its objects in some order, by trying all orders.
func (w web) same(other web) bool {
	if len(w.bases) != len(other.bases) {
		return false
	}
	return slices.ContainsFunc(orders(len(w.bases)), func(order []int) bool { return w.renamed(order).text() == other.text() })
}

// keepsSecrets reports whether anybody has a checksum of what an object had.
func (w web) keepsSecrets() bool {
	return slices.ContainsFunc(w.refers, func(refers []int) bool { return slices.Contains(refers, byOldSum) })
}

func orders(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, shorter := range orders(n - 1) {
		for at := range n {
			all = append(all, slices.Insert(slices.Clone(shorter), at, n-1))
		}
	}
	return all
}

// drawnWord returns the word of a number, which a controller has drawn.
func drawnWord(s *Server, number int) string {
	draw := s.Randomness().Set(uint64(number+1), 0)
	word := rand.String(5)
	if !draw.End() || len(draw.Words([]string{word})) != 1 {
		panic("nothing was drawn")
	}
	return word
}

// sums says of some words that they follow from others.
func sums(s *Server, number int, of string) string {
	sum := drawnWord(s, number)
	s.Randomness().Follow(map[string][]string{sum: {of}})
	return sum
}

// The words of an object besides its name are numbered from these on. It has a secret, and the checksum of that, and it
// has kept the checksum of one that is gone, as others have.
const secrets, sumsOfSecrets, oldSecrets, keptSums, sumsOfOld = 1000, 2000, 3000, 4000, 5000

// objects makes a web of objects, of which each has the name of the number that it is given.
func (w web) objects(s *Server, numbers []int) []core.Object {
	var keys []core.Key
	for i, base := range w.bases {
		namespace := "default"
		if w.apart[i] {
			namespace = "apart"
		}
		name := []string{"g-", "h-", "g-", "gx"}[base]
		if base < 2 {
			name += fmt.Sprintf("bc%03d", numbers[i]+1)
		} else {
			name += drawnWord(s, numbers[i])
		}
		keys = append(keys, core.Key{Kind: "Gadget.example.com", Namespace: namespace, Name: name})
	}
	var objects []core.Object
	for i, key := range keys {
		metadata := tree{"name": key.Name, "namespace": key.Namespace, "uid": string(storage.UID("", key, 0))}
		if w.bases[i] < 2 {
			metadata["generateName"] = key.Name[:2]
		}
		data, set, owners := tree{"colour": int64(w.colours[i])}, []any{}, []any{}
		if w.keepsSecrets() {
			data["secret"] = drawnWord(s, secrets+numbers[i])
			data["right"] = sums(s, sumsOfSecrets+numbers[i], drawnWord(s, secrets+numbers[i]))
			data["sum"] = sums(s, keptSums+numbers[i], drawnWord(s, oldSecrets+numbers[i]))
		}
		for j, other := range keys {
			switch w.refers[i][j] {
			case byOwner:
				owners = append(owners, tree{"apiVersion": "example.com/v1", "kind": "Gadget", "name": other.Name, "uid": string(storage.UID("", other, 0))})
			case byName:
				set = append(set, tree{"name": other.Name + "." + other.Namespace})
			case byDerivedName:
				set = append(set, tree{"name": "data-" + other.Name + "-0"})
			case byKey:
				data["example.com/"+other.Name] = "here"
			case byUID:
				set = append(set, "pvc-"+string(storage.UID("", other, 0)))
			case inSet:
				set = append(set, other.Name)
			case byOldSum:
				set = append(set, sums(s, sumsOfOld+numbers[i]*10+numbers[j], drawnWord(s, oldSecrets+numbers[j])))
			}
		}
		data["set"] = set
		metadata["ownerReferences"] = owners
		objects = append(objects, core.Object{Key: key, Content: storage.New(tree{"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": metadata, "data": data}, 0)})
	}
	return objects
}

// canonicalText is the outcome of objects in its canonical form, as text.
func canonicalText(s *Server, objects []core.Object) string {
	outcome := map[core.Key]any{}
	for _, o := range objects {
		outcome[o.Key] = s.Outcome(o.Key, o.Content)
	}
	text := ""
	canonical := s.CanonicalOutcome(objects, outcome)
	keys := []core.Key{}
	for key := range canonical {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, core.Key.Compare)
	for _, key := range keys {
		text += key.String() + " " + string(jsontree.Canonical(canonical[key])) + "\n"
	}
	return text
}

// Outcomes are the same exactly if they are equal up to generated names. The objects of a web have no list but one of
// which the order means nothing, so that to try all orders of the objects says what is right.
func TestOutcomesUpToGeneratedNames(t *testing.T) {
	server := newTestServer(t, Unordered("Gadget.example.com", "data.set"))
	numbers := func(t *rapid.T, n int) []int {
		all := make([]int, 2*n)
		for i := range all {
			all[i] = i
		}
		return rapid.Permutation(all).Draw(t, "numbers")[:n]
	}
	rapid.Check(t, func(t *rapid.T) {
		one := drawWeb(t)
		n := len(one.bases)
		other := one.renamed(rapid.Permutation(orders(n)[0]).Draw(t, "order"))
		if rapid.Bool().Draw(t, "changed") {
			i, j := rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to")
			if k := rapid.IntRange(0, n-1).Draw(t, "exchanged"); k != j {
				other.refers[i][j], other.refers[i][k] = other.refers[i][k], other.refers[i][j]
			} else {
				other.refers[i][j] = rapid.IntRange(noReference, references-1).Draw(t, "reference")
			}
		}
		a, b := canonicalText(server, one.objects(server, numbers(t, n))), canonicalText(server, other.objects(server, numbers(t, n)))
		if got, want := a == b, one.same(other); got != want {
			t.Fatalf("the same: %t, want %t\n%s\n%s", got, want, a, b)
		}
	})
}

// Many objects that are alike must not be tried in all orders.
func TestManyAlike(t *testing.T) {
	server := newTestServer(t, Unordered("Gadget.example.com", "data.set"))
	ring := func(n, step int) web {
		w := web{bases: make([]int, n), colours: make([]int, n), apart: make([]bool, n)}
		for i := range n {
			w.refers = append(w.refers, make([]int, n))
			if step > 0 {
				w.refers[i][(i+step)%n] = inSet
			}
		}
		return w
	}
	for _, test := range []struct {
		name string
		web  web
	}{{"nothing in common", ring(30, 0)}, {"a ring", ring(12, 1)}, {"rings of four", ring(12, 3)}} {
		n := len(test.web.bases)
		forward, backward := make([]int, n), make([]int, n)
		for i := range n {
			forward[i], backward[i] = i, 2*n-i
		}
		if a, b := canonicalText(server, test.web.objects(server, forward)), canonicalText(server, test.web.objects(server, backward)); a != b {
			t.Errorf("%s: the names make a difference\n%s\n%s", test.name, a, b)
		}
	}
	forward := make([]int, 12)
	for i := range forward {
		forward[i] = i
	}
	if a, b := canonicalText(server, ring(12, 1).objects(server, forward)), canonicalText(server, ring(12, 3).objects(server, forward)); a == b {
		t.Error("one ring is taken for three")
	}
}

// Two objects of different kinds may have got the same generated name. What does not say which of them it means does
// not tell outcomes apart that are the same, and never makes those the same that differ.
func TestGeneratedNamesOfSeveralKinds(t *testing.T) {
	server := newTestServer(t)
	named := func(kind core.Kind, name, says string) core.Object {
		key := core.Key{Kind: kind, Namespace: "default", Name: name}
		metadata := tree{"name": name, "namespace": "default", "uid": string(storage.UID("", key, 0))}
		if len(name) > storage.SuffixLength {
			metadata["generateName"] = "job-"
		}
		return core.Object{Key: key, Content: storage.New(tree{"apiVersion": "v1", "kind": string(kind), "metadata": metadata, "data": tree{"says": says}}, 0)}
	}
	say := func(pod, secret, says string) string {
		return canonicalText(server, []core.Object{named("ConfigMap", "m", says), named("Pod", pod, ""), named("Secret", secret, "")})
	}
	same := say("job-bc001", "job-bc001", "")
	expect(t, "other names", say("job-bc002", "job-bc001", "") == same, true)
	podMeant, secretMeant := say("job-bc001", "job-bc002", "job-bc001"), say("job-bc001", "job-bc002", "job-bc002")
	expect(t, "another one meant", podMeant == secretMeant, false)
	expect(t, "a name that both have", say("job-bc001", "job-bc001", "job-bc001") == podMeant, false)
	expect(t, "both have another name", say("job-bc003", "job-bc003", "job-bc003") == say("job-bc001", "job-bc001", "job-bc001"), true)
}

// An owner that was made again is not the one that is referred to.
func TestOutcomeOfGoneOwners(t *testing.T) {
	server := newTestServer(t)
	ofOwner := func(live, referred int, there bool) string {
		of := core.Key{Kind: "ConfigMap", Namespace: "default", Name: "owner"}
		owner := core.Object{Key: of, Content: storage.New(tree{"apiVersion": "v1", "kind": "ConfigMap", "metadata": tree{"name": "owner", "namespace": "default", "uid": string(storage.UID("", of, live))}}, 0)}
		owned := core.Object{Key: core.Key{Kind: "ConfigMap", Namespace: "default", Name: "owned"}, Content: storage.New(tree{"apiVersion": "v1", "kind": "ConfigMap", "metadata": tree{
			"name": "owned", "namespace": "default", "uid": "x",
			"ownerReferences": []any{tree{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": string(storage.UID("", of, referred))}},
		}}, 0)}
		if !there {
			return canonicalText(server, []core.Object{owned})
		}
		return canonicalText(server, []core.Object{owned, owner})
	}
	expect(t, "made again", ofOwner(1, 1, true) == ofOwner(0, 0, true), true)
	expect(t, "another one", ofOwner(1, 0, true) == ofOwner(0, 0, true), false)
	expect(t, "gone", ofOwner(0, 0, false) == ofOwner(0, 0, true), false)
	expect(t, "gone, whichever it was", ofOwner(0, 0, false) == ofOwner(0, 1, false), true)
}

// More objects than three digits can count have names of their own, until there are none left. That is not a refusal of
// the server's.
func TestGeneratedNamesRunOut(t *testing.T) {
	server := newTestServer(t)
	w := emptyWorld(t, server)
	op := &operation{server: server, state: w, request: &Request{Kind: configMapKind, Namespace: "default"}, resource: server.registry.Named("ConfigMap")}
	seen := map[string]bool{}
	for number := 1; ; number++ {
		name, free := storage.GeneratedName("g-bc", number)
		if !free {
			if number < 5000 {
				t.Errorf("there are only %d names", number-1)
			}
			break
		}
		if base, generated := storage.GeneratedFrom(name, "g-"); seen[name] || !generated || base != "g-" {
			t.Fatalf("name %d is %q", number, name)
		}
		seen[name] = true
		key := op.key(name)
		w.objects[key] = storage.New(tree{"apiVersion": "v1", "kind": "ConfigMap", "metadata": tree{"name": name}}, 0)
	}
	create := creation(configMapKind, tree{"generateName": "g-"}, nil)
	letters := storage.OwnerLetters("g-", nil)
	for name := range seen {
		key := op.key("g-" + letters + name[len("g-bc"):])
		w.objects[key] = storage.New(tree{"apiVersion": "v1", "kind": "ConfigMap", "metadata": tree{"name": key.Name}}, 0)
	}
	if reason := w.unsupported(create); reason == "" {
		t.Error("no reason is given")
	}
	delete(w.objects, op.key("g-"+letters+"zzz"))
	if made := w.must(create); made.GetName() != "g-"+letters+"zzz" {
		t.Errorf("the name is %q", made.GetName())
	}
}

// Nodes choose the addresses of Pods: outcomes in which they are others are the same, if what shows them shows those of
// the same Pods.
func TestOutcomesUpToAddresses(t *testing.T) {
	server := newTestServer(t)
	objects := func(first, second, shown string) []core.Object {
		object := func(kind, name string, status tree) core.Object {
			key := core.Key{Kind: core.Kind(kind), Namespace: "default", Name: name}
			return core.Object{Key: key, Content: storage.New(tree{"apiVersion": "v1", "kind": kind, "metadata": tree{"name": name, "namespace": "default"}, "status": status}, 0)}
		}
		return []core.Object{
			object("Pod", "a", tree{"podIP": first}), object("Pod", "b", tree{"podIP": second}),
			object("Service", "c", tree{"shown": "at " + shown + ":80"}),
		}
	}
	want := canonicalText(server, objects("10.1.1.1", "10.1.1.11", "10.1.1.1"))
	for _, test := range []struct {
		first, second, shown string
		same                 bool
	}{
		{"10.1.2.1", "10.1.2.11", "10.1.2.1", true},
		{"10.1.1.11", "10.1.1.1", "10.1.1.11", true},
		{"10.1.1.1", "10.1.1.11", "10.1.1.11", false},
		{"10.1.1.1", "10.1.1.11", "10.1.1.2", false},
		{"10.1.1.1", "10.1.1.1", "10.1.1.1", false}, // of the host of both
	} {
		if got := canonicalText(server, objects(test.first, test.second, test.shown)); (got == want) != test.same {
			t.Errorf("%+v: the same: %t\n%s\n%s", test, got == want, got, want)
		}
	}
}

// What notes the version of another object notes that it is the latest, or that it is not: the version itself depends
// on words and times that make no difference.
func TestOutcomesUpToVersions(t *testing.T) {
	server := newTestServer(t)
	objects := func(time, noted string, again int) []core.Object {
		secret := storage.New(tree{"apiVersion": "v1", "kind": "Secret", "metadata": tree{"name": "a", "namespace": "default", "creationTimestamp": time}}, again)
		if len(secret.Version) < storage.VersionLength {
			t.Errorf("the version %s is short", secret.Version)
		}
		if noted == "" {
			noted = secret.Version
		}
		return []core.Object{
			{Key: core.Key{Kind: "Secret", Namespace: "default", Name: "a"}, Content: secret},
			{Key: core.Key{Kind: "Service", Namespace: "default", Name: "b"}, Content: storage.New(tree{
				"apiVersion": "v1", "kind": "Service", "metadata": tree{"name": "b", "namespace": "default", "annotations": tree{"seen": "v-" + noted}}}, 0)},
		}
	}
	const early, late = "2000-01-01T00:00:00Z", "2001-01-01T00:00:00Z"
	want := canonicalText(server, objects(early, "", 0))
	for name, test := range map[string]struct {
		objects []core.Object
		same    bool
	}{
		"the latest of a later one":        {objects(late, "", 0), true},
		"the latest of one that was again": {objects(early, "", 1), true},
		"another one":                      {objects(early, "140737488355328", 0), false},
		"none":                             {objects(early, "none", 0), false},
	} {
		if got := canonicalText(server, test.objects); (got == want) != test.same {
			t.Errorf("%s: it is the same: %t\n%s", name, !test.same, got)
		}
	}
}
