package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// generator makes random sequences. Equal seeds give equal sequences.
type generator struct {
	random   *rand.Rand
	subjects []Subject
	// cast are the subjects of the sequence that is being made.
	cast []Subject
}

func newGenerator(seed uint64, subjects []Subject) *generator {
	return &generator{random: rand.New(rand.NewPCG(seed, 0)), subjects: subjects}
}

// clients is how many clients act in a sequence. Each sees only what it asked for, so
// their copies get stale.
const clients = 2

// sequence makes a sequence of a length. It is about few kinds and names, so that its
// actions meet.
func (g *generator) sequence(length int) Sequence {
	g.cast = nil
	for range 1 + g.random.IntN(2) {
		g.cast = append(g.cast, pick(g, g.subjects))
	}
	if first := g.cast[0]; first.SameAs != "" {
		i := slices.IndexFunc(g.subjects, func(s Subject) bool { return s.Name == first.SameAs })
		g.cast = append(g.cast, g.subjects[i])
	}
	var sequence Sequence
	for len(sequence) < length {
		subject := pick(g, g.cast)
		move := g.move()
		if len(sequence) == 0 {
			move = moves[0] // Most of what can be done needs an object.
		}
		action := Action{Subject: subject.Name, Client: g.random.IntN(clients)}
		g.place(&action, subject)
		if !move.make(g, subject, &action) {
			continue
		}
		if g.chance(30) {
			action.Typed = true
		}
		sequence = append(sequence, action)
	}
	return sequence
}

// place chooses the object that an action is about.
func (g *generator) place(action *Action, subject Subject) {
	action.Name = pick(g, []string{"a-run", "a-run", "b-run"})
	switch {
	case subject.Name == "Namespace":
		action.Name = pick(g, []string{"two-run", "three-run", "three-run"})
	case subject.Namespaced:
		action.Namespace = pick(g, []string{"one-run", "one-run", "one-run", "two-run"})
	}
}

// move chooses what to do, by weight.
func (g *generator) move() move {
	total := 0
	for _, m := range moves {
		total += m.weight
	}
	at := g.random.IntN(total)
	for _, m := range moves {
		if at -= m.weight; at < 0 {
			return m
		}
	}
	panic("conformance: the weights of the moves do not add up")
}

// chance is true in so many of a hundred cases.
func (g *generator) chance(percent int) bool { return g.random.IntN(100) < percent }

func pick[T any](g *generator, from []T) T { return from[g.random.IntN(len(from))] }

// mostlyFirst picks the first, which is a valid one, in most cases.
func mostlyFirst(g *generator, from []json.RawMessage) json.RawMessage {
	if g.chance(60) {
		return from[0]
	}
	return pick(g, from)
}

// merged lays a JSON merge patch over a JSON object.
func merged(object, patch json.RawMessage) json.RawMessage {
	result, err := jsonpatch.MergeMergePatches(object, patch)
	if err != nil {
		panic("conformance: a patch of our own does not merge: " + err.Error())
	}
	return result
}

// variation is a change of metadata with the name of what it shows.
type variation struct {
	feature string
	patch   string
}

// births are what can be said of an object when it is created.
var births = []variation{
	{"plain", `{}`},
	{"plain", `{}`},
	{"plain", `{}`},
	{"labels", `{"metadata":{"labels":{"app":"x"}}}`},
	{"labels", `{"metadata":{"labels":{"app":"y","tier":"db"},"annotations":{"note":"text"}}}`},
	{"finalizer", `{"metadata":{"finalizers":["example.com/one"]}}`},
	{"finalizer", `{"metadata":{"finalizers":["example.com/one","example.com/two"]}}`},
	{"finalizer of the collector", `{"metadata":{"finalizers":["foregroundDeletion"]}}`},
	{"invalid finalizer", `{"metadata":{"finalizers":["unqualified"]}}`},
	{"owner", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a-run","uid":"{{uid ConfigMap a-run}}"}]}}`},
	{"controller owner", `{"metadata":{"ownerReferences":[{"apiVersion":"conformance.example.com/v1","kind":"Widget","name":"a-run","uid":"{{uid Widget a-run}}","controller":true,"blockOwnerDeletion":true}]}}`},
	{"invalid owner", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a-run"}]}}`},
	{"two controllers", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a","uid":"1","controller":true},{"apiVersion":"v1","kind":"ConfigMap","name":"b","uid":"2","controller":true}]}}`},
	{"invalid label", `{"metadata":{"labels":{"not a key!":"x"}}}`},
	{"invalid label value", `{"metadata":{"labels":{"app":"not a value!"}}}`},
	{"invalid annotation", `{"metadata":{"annotations":{"not a key!":"x"}}}`},
	{"resource version given", `{"metadata":{"resourceVersion":"5"}}`},
	{"uid given", `{"metadata":{"uid":"11111111-1111-1111-1111-111111111111"}}`},
	{"times given", `{"metadata":{"creationTimestamp":"2020-01-01T00:00:00Z","deletionTimestamp":"2020-01-01T00:00:00Z"}}`},
	{"generation given", `{"metadata":{"generation":7,"selfLink":"x"}}`},
}

// lives are how metadata can be changed later, as JSON merge patches.
var lives = []variation{
	{"labels", `{"metadata":{"labels":{"app":"y"}}}`},
	{"labels", `{"metadata":{"labels":{"app":"x","new":"1"}}}`},
	{"labels removed", `{"metadata":{"labels":null}}`},
	{"annotations", `{"metadata":{"annotations":{"changed":"1"}}}`},
	{"annotations removed", `{"metadata":{"annotations":null}}`},
	{"finalizer added", `{"metadata":{"finalizers":["example.com/one"]}}`},
	{"finalizer added", `{"metadata":{"finalizers":["example.com/two","example.com/one"]}}`},
	{"finalizers removed", `{"metadata":{"finalizers":null}}`},
	{"finalizers removed", `{"metadata":{"finalizers":[]}}`},
	{"invalid finalizer", `{"metadata":{"finalizers":["unqualified"]}}`},
	{"owner", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a-run","uid":"{{uid ConfigMap a-run}}"}]}}`},
	{"owners removed", `{"metadata":{"ownerReferences":null}}`},
	{"invalid owner", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"","name":"a","uid":"1"}]}}`},
	{"invalid label", `{"metadata":{"labels":{"app":"not a value!"}}}`},
	{"without resource version", `{"metadata":{"resourceVersion":null,"labels":{"app":"z"}}}`},
	{"resource version 0", `{"metadata":{"resourceVersion":"0","labels":{"app":"w"}}}`},
	{"resource version not a number", `{"metadata":{"resourceVersion":"abc"}}`},
	{"old resource version", `{"metadata":{"resourceVersion":"1"}}`},
	{"uid changed", `{"metadata":{"uid":"11111111-1111-1111-1111-111111111111"}}`},
	{"uid removed", `{"metadata":{"uid":null,"labels":{"app":"v"}}}`},
	{"generation changed", `{"metadata":{"generation":77}}`},
	{"creation time changed", `{"metadata":{"creationTimestamp":"2020-01-01T00:00:00Z"}}`},
	{"creation time removed", `{"metadata":{"creationTimestamp":null}}`},
	{"deletion time set", `{"metadata":{"deletionTimestamp":"2020-01-01T00:00:00Z"}}`},
	{"deletion time removed", `{"metadata":{"deletionTimestamp":null}}`},
	{"generate name changed", `{"metadata":{"generateName":"other-"}}`},
	{"managed fields removed", `{"metadata":{"managedFields":[]}}`},
	{"namespace changed", `{"metadata":{"namespace":"other-run"}}`},
	{"nothing", `{}`},
	{"nothing", `{}`},
}

// stored returns everything that the server stores for the run of some kinds, in order.
func (s *Side) stored(ctx context.Context, cast []Subject) ([]tree, error) {
	var objects []tree
	for _, subject := range cast {
		places := []string{""}
		if subject.Namespaced {
			places = nil
			for _, namespace := range s.inhabited(cast) {
				places = append(places, strings.ReplaceAll(namespace, "-run", s.suffix))
			}
		}
		for _, place := range places {
			list := &unstructured.UnstructuredList{}
			kind := subject.Kind()
			kind.Kind += "List"
			list.SetGroupVersionKind(kind)
			if err := s.client.List(ctx, list, client.InNamespace(place)); err != nil {
				return nil, fmt.Errorf("cannot list %s in %q: %w", subject.Name, place, err)
			}
			for _, item := range list.Items {
				if s.ofRun(item) {
					objects = append(objects, item.Object)
				}
			}
		}
	}
	return objects, nil
}

// inhabited are the namespaces that there can be when requests are about some kinds.
func (s *Side) inhabited(cast []Subject) []string {
	if slices.ContainsFunc(cast, func(s Subject) bool { return s.Name == "Namespace" }) {
		return append(namespaces[:], "three-run")
	}
	return namespaces[:]
}

// ofRun reports whether an object belongs to the run. A real server looks through the addresses of
// Services every few minutes, and tells with an Event what it finds in between.
func (s *Side) ofRun(object unstructured.Unstructured) bool {
	if reporter, _, _ := unstructured.NestedString(object.Object, "reportingComponent"); reporter == "ipallocator-repair-controller" {
		return false
	}
	if namespace := object.GetNamespace(); namespace != "" {
		return strings.HasSuffix(namespace, s.suffix)
	}
	return strings.Contains(object.GetName(), s.suffix)
}
