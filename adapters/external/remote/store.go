package remote

import (
	"fmt"
	"time"

	"github.com/orrery-dev/orrery/adapters/external"
	"github.com/orrery-dev/orrery/core"
)

// The server of a cluster calls its kinds by their names. Whatever passes between it and the system goes through this
// file, where the name of the cluster is added to kinds, or taken away.

// store is the server of a cluster as part of a system.
type store struct {
	cluster *Cluster
	// server is that of the cluster, at some time.
	server core.Store
}

var (
	_ core.Dated     = store{}
	_ core.Assuming  = store{}
	_ core.Ordering  = store{}
	_ core.Aging     = store{}
	_ core.Counting  = store{}
	_ core.Presuming = store{}
	_ core.Noting    = store{}
	_ core.Knowing   = store{}
)

// After implements [core.Dated].
func (s store) After(later time.Duration) core.Store {
	return store{s.cluster, s.server.(core.Dated).After(later)}
}

// Ordered implements [core.Ordering].
func (s store) Ordered() core.Store {
	return store{s.cluster, s.server.(core.Ordering).Ordered()}
}

// Aged implements [core.Aging]. The server of the cluster knows the kinds by their own names, and each group of the
// system has those of this cluster that it has.
func (s store) Aged(groups [][]core.Kind) core.Store {
	var own [][]core.Kind
	for _, group := range groups {
		if kinds := s.own(group); len(kinds) > 0 {
			own = append(own, kinds)
		}
	}
	return store{s.cluster, s.server.(core.Aging).Aged(own)}
}

// own returns what the server calls its own ones of some kinds.
func (s store) own(of []core.Kind) (kinds []core.Kind) {
	for _, kind := range of {
		if inner, its := s.cluster.inside(kind); its {
			kinds = append(kinds, inner)
		}
	}
	return kinds
}

// Ages implements [core.Aging].
func (s store) Ages() [][]core.Kind {
	var groups [][]core.Kind
	for _, group := range s.server.(core.Aging).Ages() {
		var kinds []core.Kind
		for _, kind := range group {
			kinds = append(kinds, s.cluster.Kind(kind))
		}
		groups = append(groups, kinds)
	}
	return groups
}

// Notes implements [core.Noting].
func (s store) Notes(state core.Snapshot, name string) bool {
	return s.server.(core.Noting).Notes(snapshot{s.cluster, state}, name)
}

// Knows implements [core.Knowing].
func (s store) Knows(kind core.Kind) bool {
	inside, its := s.cluster.inside(kind)
	return its && s.server.(core.Knowing).Knows(inside)
}

// Making implements [core.Presuming].
func (s store) Making(keys []core.Key) core.Store {
	var own []core.Key
	for _, key := range keys {
		if kind, its := s.cluster.inside(key.Kind); its {
			own = append(own, core.Key{Kind: kind, Namespace: key.Namespace, Name: key.Name})
		}
	}
	return store{s.cluster, s.server.(core.Presuming).Making(own)}
}

// Counted implements [core.Counting].
func (s store) Counted(kinds []core.Kind) core.Store {
	return store{s.cluster, s.server.(core.Counting).Counted(s.own(kinds))}
}

// Further implements [core.Counting].
func (s store) Further(by map[core.Key]int) core.Further {
	own := map[core.Key]int{}
	for key, more := range by {
		if kind, its := s.cluster.inside(key.Kind); its {
			key.Kind = kind
			own[key] = more
		}
	}
	return further{s.cluster, s.server.(core.Counting).Further(own)}
}

// further is how objects of the cluster would be shown if its server had counted more.
type further struct {
	cluster *Cluster
	inside  core.Further
}

// Content implements [core.Further].
func (f further) Content(key core.Key, content core.Content) core.Content {
	kind, its := f.cluster.inside(key.Kind)
	if !its {
		return content
	}
	key.Kind = kind
	return f.inside.Content(key, content)
}

// Response implements [core.Further].
func (f further) Response(of core.Response) core.Response {
	if r, is := of.(*response); is && len(r.versions) > 0 && f.cluster.Owns(r.versions[0].Key.Kind) {
		return f.cluster.answered(f.inside.Response(r.Response))
	}
	return of
}

// Call implements [core.Further].
func (f further) Call(of core.Call) core.Call {
	if c, its := of.(*call); its && c.cluster == f.cluster.name {
		return &call{Call: f.inside.Call(c.Call), cluster: c.cluster}
	}
	return of
}

// Assumptions implements [core.Assuming].
func (s store) Assumptions() []string {
	var all []string
	for _, text := range s.cluster.server.Assumptions() {
		all = append(all, "In the cluster "+s.cluster.name+": "+text)
	}
	return all
}

// Answer implements [core.Store].
func (s store) Answer(state core.Snapshot, asked core.Call) (core.Answer, error) {
	c, ok := asked.(*call)
	if !ok {
		return core.Answer{}, &core.Unsupported{Call: asked.String(), Reason: fmt.Sprintf("the cluster %s answers requests of its own clients only", s.cluster.name)}
	}
	answer, err := s.server.Answer(snapshot{s.cluster, state}, c.Call)
	if err != nil {
		return core.Answer{}, err
	}
	answer.Response = s.cluster.answered(answer.Response)
	for i := range answer.Writes {
		answer.Writes[i].Key.Kind = s.cluster.Kind(answer.Writes[i].Key.Kind)
	}
	for i := range answer.Presumed {
		answer.Presumed[i].Kind = s.cluster.Kind(answer.Presumed[i].Kind)
	}
	return answer, nil
}

// Faults implements [core.Store].
func (s store) Faults(asked core.Call) []core.Fault {
	c, ok := asked.(*call)
	if !ok {
		return nil
	}
	faults := s.cluster.server.Faults(c.Call)
	for i := range faults {
		faults[i].Response = s.cluster.answered(faults[i].Response)
		for j, key := range faults[i].Overtaken {
			faults[i].Overtaken[j].Kind = s.cluster.Kind(key.Kind)
		}
	}
	return faults
}

// Normalize implements [core.Store].
func (s store) Normalize(key core.Key, versions []core.Content, pinned []bool) []core.Content {
	return s.server.Normalize(s.cluster.inner(core.Object{Key: key}).Key, versions, pinned)
}

// Outcome implements [core.Store].
func (s store) Outcome(key core.Key, content core.Content) any {
	return s.cluster.server.Outcome(s.cluster.inner(core.Object{Key: key}).Key, content)
}

// elsewhere marks the kinds of objects that are not in the cluster, as kinds may have the same names there.
const elsewhere = "elsewhere "

// CanonicalOutcome implements [core.Store].
func (s store) CanonicalOutcome(objects []core.Object, outcome map[core.Key]any) map[core.Key]any {
	own := make([]core.Object, len(objects))
	for i, o := range objects {
		own[i] = s.cluster.inner(o)
	}
	inside := make(map[core.Key]any, len(outcome))
	for key, fields := range outcome {
		kind, ours := s.cluster.inside(key.Kind)
		if !ours {
			kind = elsewhere + key.Kind
		}
		key.Kind = kind
		inside[key] = fields
	}
	canonical := make(map[core.Key]any, len(outcome))
	for key, fields := range s.cluster.server.CanonicalOutcome(own, inside) {
		if kind := key.Kind; len(kind) > len(elsewhere) && kind[:len(elsewhere)] == elsewhere {
			key.Kind = kind[len(elsewhere):]
		} else {
			key.Kind = s.cluster.Kind(kind)
		}
		canonical[key] = fields
	}
	return canonical
}

// snapshot is what the server sees of a state.
type snapshot struct {
	cluster *Cluster
	state   core.Snapshot
}

var (
	_ core.Selective  = snapshot{}
	_ core.Projecting = snapshot{}
	_ core.Surrounded = snapshot{}
)

// Get implements [core.Snapshot].
func (s snapshot) Get(key core.Key) core.Content {
	key.Kind = s.cluster.Kind(key.Kind)
	return s.state.Get(key)
}

// List implements [core.Snapshot].
func (s snapshot) List(kind core.Kind, namespace string) []core.Object {
	return s.objects(s.state.List(s.cluster.Kind(kind), namespace))
}

// Held implements [core.Snapshot].
func (s snapshot) Held(key core.Key) []core.Content {
	key.Kind = s.cluster.Kind(key.Kind)
	return s.state.Held(key)
}

// NotedBeside implements [core.Surrounded].
func (s snapshot) NotedBeside(name string) bool {
	beside, has := s.state.(core.Surrounded)
	return has && beside.NotedBeside(name)
}

// Select implements [core.Selective].
func (s snapshot) Select(kind core.Kind, namespace string, of core.Selection) []core.Object {
	return s.objects(core.Select(s.state, s.cluster.Kind(kind), namespace, selection{s.cluster, of}))
}

// Project implements [core.Projecting].
func (s snapshot) Project(key core.Key, of core.Projection) core.Content {
	key.Kind = s.cluster.Kind(key.Kind)
	return core.Project(s.state, key, projection{s.cluster, of})
}

func (s snapshot) objects(all []core.Object) []core.Object {
	own := make([]core.Object, len(all))
	for i, o := range all {
		own[i] = s.cluster.inner(o)
	}
	return own
}

// selection is one of the server's.
type selection struct {
	cluster *Cluster
	of      core.Selection
}

// Identity implements [core.Selection].
func (s selection) Identity() string { return s.cluster.name + ": " + s.of.Identity() }

// Selects implements [core.Selection].
func (s selection) Selects(o core.Object) bool { return s.of.Selects(s.cluster.inner(o)) }

// projection is one of the server's.
type projection struct {
	cluster *Cluster
	of      core.Projection
}

// Identity implements [core.Projection].
func (p projection) Identity() string { return p.cluster.name + ": " + p.of.Identity() }

// Project implements [core.Projection].
func (p projection) Project(o core.Object) core.Content { return p.of.Project(p.cluster.inner(o)) }

// call is a call to the server of a cluster.
type call struct {
	core.Call
	cluster string
}

var (
	_ external.Addressed = (*call)(nil)
	_ core.Aimed         = (*call)(nil)
)

// Part implements [external.Addressed].
func (c *call) Part() string { return c.cluster }

// Identity implements [core.Call].
func (c *call) Identity() string { return fmt.Sprintf("%q %s", c.cluster, c.Call.Identity()) }

// String implements [core.Call].
func (c *call) String() string { return c.cluster + ": " + c.Call.String() }

// Aim implements [core.Aimed].
func (c *call) Aim() string {
	if aimed, ok := c.Call.(core.Aimed); ok {
		return fmt.Sprintf("%q %s", c.cluster, aimed.Aim())
	}
	return c.String()
}

// Contents implements [core.Aimed].
func (c *call) Contents() string {
	if aimed, ok := c.Call.(core.Aimed); ok {
		return aimed.Contents()
	}
	return c.Identity()
}

// response is what the server of a cluster has answered.
type response struct {
	core.Response
	versions []core.Object
}

var _ core.Versioned = (*response)(nil)

// Versions implements [core.Versioned].
func (r *response) Versions() []core.Object { return r.versions }

// Retagged implements [core.Versioned].
func (r *response) Retagged(names *core.Retagging) core.Response {
	other := *r
	if versioned, ok := r.Response.(core.Versioned); ok {
		other.Response = versioned.Retagged(names)
	}
	return &other
}

// Earlier implements [core.Versioned].
func (r *response) Earlier(by map[core.Key]map[string]int) core.Response {
	versioned, ok := r.Response.(core.Versioned)
	if !ok {
		return r
	}
	own := map[core.Key]map[string]int{}
	for i, o := range versioned.Versions() {
		own[o.Key] = by[r.versions[i].Key]
	}
	return &response{Response: versioned.Earlier(own), versions: core.EarlierObjects(r.versions, by)}
}

// answered returns the response of the server as part of a system.
func (c *Cluster) answered(of core.Response) core.Response {
	r := &response{Response: of}
	if versioned, ok := of.(core.Versioned); ok {
		for _, o := range versioned.Versions() {
			r.versions = append(r.versions, c.outer(o))
		}
	}
	return r
}

// recorder hands the calls to the server of a cluster to the recorder of a run.
type recorder struct {
	cluster *Cluster
	run     core.EffectRecorder
}

// via returns what the clients of the cluster make their calls with.
func (c *Cluster) via(run core.EffectRecorder) core.EffectRecorder { return recorder{c, run} }

// Do implements [core.EffectRecorder].
func (r recorder) Do(asked core.Call) core.Response {
	answer := r.run.Do(&call{Call: asked, cluster: r.cluster.name})
	if own, ok := answer.(*response); ok {
		return own.Response
	}
	return answer
}
