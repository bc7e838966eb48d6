package recorded

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// deed is a later version of an object that no recorded controller made.
type deed struct {
	h history
	i int
	// manager is who made it, empty if nobody knows.
	manager string
	// calls are how somebody can make it.
	calls []*kube.Request
	// status tells that only the status is another one.
	status bool
}

// actions returns the scenario of what others did later, in that order, each named after what it did and with the
// version that it led to.
func (b *beginning) actions(later Later) (core.Scenario, error) {
	var deeds []deed
	left := map[string]int{}
	for _, h := range b.all {
		for i, v := range h {
			if v.rv <= b.rv || v.written || i == 0 && v.initial {
				continue
			}
			d, err := b.deed(h, i)
			if err != nil {
				return core.Scenario{}, err
			}
			switch {
			case len(d.calls) == 0:
			case later == LaterUsers && d.surroundings(b):
				left[cmp.Or(d.manager, "somebody without a name")]++
			default:
				deeds = append(deeds, d)
			}
		}
	}
	slices.SortFunc(deeds, func(x, y deed) int { return cmp.Compare(x.h[x.i].rv, y.h[y.i].rv) })
	scenario := core.Scenario{InOrder: true}
	var names []string
	for _, d := range deeds {
		action := d.action()
		names = append(names, action.Name)
		scenario.Actions = append(scenario.Actions, action)
	}
	if len(names) > 0 {
		b.assume("What others did later in the recording, users may do in the search, in that order: %s.", strings.Join(names, "; "))
	}
	var others []string
	for name, n := range left {
		others = append(others, fmt.Sprintf("%s (%d)", clean(name), n))
	}
	if slices.Sort(others); len(others) > 0 {
		b.assume("What components of Kubernetes and controllers that were not recorded wrote later is left out: %s. --later all lets it be done as well.", strings.Join(others, ", "))
	}
	return scenario, nil
}

// components are the field managers of Kubernetes itself.
func components() []string {
	return []string{"kube-controller-manager", "kube-scheduler", "kubelet", "kube-apiserver", "apiserver", "cloud-controller-manager", "kube-proxy", "kube-aggregator"}
}

// surroundings reports whether somebody made the version who is around the controllers, and no user.
func (d deed) surroundings(b *beginning) bool {
	if slices.Contains(components(), d.manager) || d.status {
		return true
	}
	if !d.h[d.i].gone || d.i == 0 {
		return false
	}
	// The garbage collector deletes what nobody owns any more.
	owners := metaOf(d.h[d.i-1].object).Owners
	return len(owners) > 0 && !slices.ContainsFunc(owners, func(o struct {
		UID string `json:"uid"`
	}) bool {
		return b.stays(o.UID, d.h[d.i].rv)
	})
}

// stays reports whether an object of a uid is there at a version, and not on its way out.
func (b *beginning) stays(uid string, rv uint64) bool {
	for _, h := range b.all {
		if i := h.at(rv); i >= 0 && h[i].uid == uid && !h[i].gone && !deleting(h[i].object) {
			return true
		}
	}
	return false
}

// deed finds out how somebody made a version.
func (b *beginning) deed(h history, i int) (deed, error) {
	d := deed{h: h, i: i}
	now := h[i]
	var before live.Object
	if i > 0 && !h[i-1].gone && h[i-1].uid == now.uid {
		before = h[i-1].object
	}
	key := now.object.Key
	ask := func(verb string, sent []byte) (*kube.Request, error) {
		r, err := b.store.Takes(live.Call{Verb: verb, Object: key, Sent: sent})
		if err == nil {
			r.FieldManager = d.manager
			d.calls = append(d.calls, r)
		}
		return r, err
	}
	switch {
	case now.gone:
		if !deleting(before) {
			_, err := ask(live.Delete, nil)
			return d, err
		}
		return d, nil // a finalizer was taken away, and that was another write
	case len(now.object.Value) == 0:
		b.because("Somebody wrote %s@%d later, and what is not in the recording: users do not do that in the search.", key, now.rv)
		return d, nil
	}
	d.manager = managerOf(now.object)
	if len(before.Value) == 0 {
		body, err := written(now.object)
		if err != nil {
			return d, err
		}
		_, err = ask(live.Create, body)
		return d, err
	}
	if deleting(now.object) && !deleting(before) {
		_, err := ask(live.Delete, nil)
		return d, err
	}
	return d, b.patches(&d, before, now.object, ask)
}

// patches makes the difference between two versions with patches: of the status, and of the rest.
func (b *beginning) patches(d *deed, before, now live.Object, ask func(string, []byte) (*kube.Request, error)) error {
	was, err := written(before)
	if err != nil {
		return err
	}
	is, err := written(now)
	if err != nil {
		return err
	}
	patch, err := jsonpatch.CreateMergePatch(was, is)
	if err != nil {
		return fmt.Errorf("compare versions of %s: %w", now.Key, err)
	}
	var changes map[string]json.RawMessage
	if err := json.Unmarshal(patch, &changes); err != nil {
		return err
	}
	status, touched := changes["status"]
	delete(changes, "status")
	if len(changes) > 0 {
		changes["apiVersion"] = apiVersionOf(now)
		body, err := json.Marshal(changes)
		if err != nil {
			return err
		}
		r, err := ask(live.Patch, body)
		if err != nil {
			return err
		}
		r.PatchType = types.MergePatchType
	}
	if touched {
		body, err := json.Marshal(map[string]json.RawMessage{"apiVersion": apiVersionOf(now), "status": status})
		if err != nil {
			return err
		}
		r, err := ask(live.Patch, body)
		if err != nil {
			return err
		}
		r.PatchType, r.Subresource = types.MergePatchType, "status"
		d.status = len(changes) == 0
	}
	return nil
}

// apiVersionOf returns the version of the API that an object is in, as JSON.
func apiVersionOf(o live.Object) json.RawMessage {
	var said struct {
		APIVersion json.RawMessage `json:"apiVersion"`
	}
	_ = json.Unmarshal(o.Value, &said) // it was read before
	return said.APIVersion
}

// written returns an object without what the server writes in it.
func written(o live.Object) ([]byte, error) {
	var tree map[string]any
	if err := json.Unmarshal(o.Value, &tree); err != nil {
		return nil, fmt.Errorf("%s at version %s cannot be read: %w", o.Key, o.ResourceVersion, err)
	}
	if meta, ok := tree["metadata"].(map[string]any); ok {
		for _, name := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "selfLink"} {
			delete(meta, name)
		}
	}
	return json.Marshal(tree)
}

// action returns the deed as an action of a user.
func (d deed) action() core.Action {
	v := d.h[d.i]
	what := "changes"
	switch {
	case d.calls[0].Verb == kube.Create:
		what = "creates"
	case d.calls[0].Verb == kube.Delete:
		what = "deletes"
	case d.status:
		what = "changes the status of"
	}
	return core.Action{
		Name: fmt.Sprintf("%s %s %s@%d", cmp.Or(clean(d.manager), "somebody"), what, v.object.Key, v.rv),
		Do: func(recorder core.EffectRecorder) error {
			for _, call := range d.calls {
				response, ok := recorder.Do(call).(*kube.Response)
				if !ok {
					return fmt.Errorf("%s has no answer of an API server", call)
				}
				if err := response.Err(); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
