package controllerruntime

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery/core"
)

func TestRequestsSurviveBeingWritten(t *testing.T) {
	name := rapid.StringMatching(`[a-z0-9]([-a-z0-9.]{0,20}[a-z0-9])?`)
	rapid.Check(t, func(t *rapid.T) {
		request := reconcile.Request{NamespacedName: types.NamespacedName{
			Namespace: rapid.OneOf(rapid.Just(""), name).Draw(t, "namespace"),
			Name:      name.Draw(t, "name"),
		}}
		if got := decode(encode(request)); got != request {
			t.Fatalf("got %v, want %v", got, request)
		}
	})
}

// TestQueue tells what is to come later than it takes to bring changes together, from event handlers and from others.
func TestQueue(t *testing.T) {
	request := func(name string) reconcile.Request {
		return reconcile.Request{NamespacedName: types.NamespacedName{Name: name}}
	}
	fill := func(q *queue) {
		q.AddAfter(request("e"), 2*time.Second)
		q.AddAfter(request("d"), time.Second)
		q.AddAfter(request("c"), time.Hour)
		q.AddWithOpts(priorityqueue.AddOpts{After: time.Minute}, request("e"), request("f"))
		q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, request("b"))
		q.AddRateLimited(request("a"))
		q.Add(request("e"))
	}
	now, later := []core.Request{"a", "b", "d", "e"}, []core.Request{"c", "e", "f"}
	handling := &queue{}
	handling.handle()
	fill(handling)
	if added, delayed := handling.take(); !slices.Equal(added, now) || !slices.Equal(delayed, later) {
		t.Errorf("handlers add %v, and %v later", added, delayed)
	}
	if added, delayed := handling.take(); added != nil || delayed != nil {
		t.Errorf("what was taken is there again: %v and %v", added, delayed)
	}
	before := &queue{}
	fill(before)
	if added, delayed := before.take(); len(added) != 6 || delayed != nil {
		t.Errorf("before anybody runs, %v are added, and %v later", added, delayed)
	}
	told := map[bool][]core.Request{}
	outside := &queue{outside: func(request reconcile.Request, later bool) { told[later] = append(told[later], encode(request)) }}
	fill(outside)
	slices.Sort(told[false])
	slices.Sort(told[true])
	if !slices.Equal(told[false], now) || !slices.Equal(slices.Compact(told[true]), later) {
		t.Errorf("in the background, these are added: %v", told)
	}
}
