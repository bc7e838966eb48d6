package behavior

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// Some of what code is shown stands for something else, and the world chooses it: the names of versions, the times at
// which objects were created, and how much was counted of them before. Code that looks at more than whether two of them
// are equal does something else where they are others. That is found out by runs that are shown others.

// Otherwise is others of what the world chooses.
type Otherwise interface {
	// content and response return what is shown as it is with them.
	content(key core.Key, content core.Content) core.Content
	response(response core.Response) core.Response
	// recorded returns a text of a recorded run as it has to be in one that is shown them, and observed one of that run
	// as it has to be then.
	recorded(text string) string
	observed(text string) string
	// call returns a call, of either run, as it has to be compared.
	call(call core.Call) core.Call
	// kept puts right what the memory of such a run may hold otherwise than it has to, by place, given what it holds as
	// recorded.
	kept(recorded, left, found map[string]string)
}

// Renamed are other names of versions.
type Renamed struct{ Names *core.Retagging }

func (r Renamed) content(_ core.Key, content core.Content) core.Content {
	if tagged, ok := content.(core.Tagged); ok {
		return tagged.Retagged(r.Names)
	}
	return content
}

func (r Renamed) response(response core.Response) core.Response {
	if versioned, ok := response.(core.Versioned); ok {
		return versioned.Retagged(r.Names)
	}
	return response
}

func (r Renamed) recorded(text string) string { return r.Names.In(text) }

func (r Renamed) observed(text string) string { return text }

func (r Renamed) call(call core.Call) core.Call { return call }

func (r Renamed) kept(_, _, _ map[string]string) {}

// Renoted are other names where versions are noted. Versions keep their own, and code that writes one of either into an
// object, or keeps it, does the same.
type Renoted struct {
	Renamed
	back *core.Retagging
}

// NewRenoted returns others of some names, each with a name that nothing else has.
func NewRenoted(others map[string]string) Renoted {
	back := map[string]string{}
	for name, other := range others {
		back[other] = name
	}
	return Renoted{Renamed{core.NewRetagging(others).Noted()}, core.NewRetagging(back)}
}

func (r Renoted) recorded(text string) string { return text }

func (r Renoted) observed(text string) string { return r.back.In(text) }

// Together is all of several at once.
type Together []Otherwise

func (t Together) content(key core.Key, content core.Content) core.Content {
	for _, other := range t {
		content = other.content(key, content)
	}
	return content
}

func (t Together) response(response core.Response) core.Response {
	for _, other := range t {
		response = other.response(response)
	}
	return response
}

func (t Together) recorded(text string) string {
	for _, other := range t {
		text = other.recorded(text)
	}
	return text
}

func (t Together) observed(text string) string {
	for _, other := range t {
		text = other.observed(text)
	}
	return text
}

func (t Together) call(call core.Call) core.Call {
	for _, other := range t {
		call = other.call(call)
	}
	return call
}

func (t Together) kept(recorded, left, found map[string]string) {
	for _, other := range t {
		other.kept(recorded, left, found)
	}
}

// Otherwise returns the run as it would be if something else had been chosen.
func (r Run) Otherwise(other Otherwise) Run {
	if event := r.Activation.Event; event != nil {
		shown := *event
		shown.Old, shown.New = other.content(event.Key, event.Old), other.content(event.Key, event.New)
		r.Activation.Event = &shown
	}
	r.Path, _ = r.Path.Answered(other.response)
	return r
}

// Otherwise begins a run and takes it along a recorded one although something else was chosen. It returns where the run
// does more than to use that in place of what was chosen there, nil if it does not. A call that only writes something
// else counts unless a function of the recorded call says that it does not; nil excuses none.
func (s *Session) Otherwise(ctx context.Context, run Run, other Otherwise, excused func(recorded core.Call) bool) (*Divergence, error) {
	exchanges, made := false, 0
	_, divergence, err := s.along(ctx, run.Otherwise(other), func(call, recorded core.Call) bool {
		call, recorded = other.call(call), other.call(recorded)
		was, is := []string{other.recorded(Aim(recorded)), other.recorded(contents(recorded))}, []string{other.observed(Aim(call)), other.observed(contents(call))}
		if was[0] == is[0] && (was[1] == is[1] || excused != nil && excused(recorded)) {
			made++
			return true
		}
		exchanges = s.mayExchange() && exchanged(s.limits.Randomness, was, is, run.Path.given(s.limits.Randomness, run.Activation)[made*said])
		return false
	}, nil, (*Leaf).agrees)
	if divergence != nil {
		divergence.Exchanged = divergence.Exchanged || exchanges
	}
	return divergence, err
}

// Leaves returns what memory holds behind the recorded run as it has to be if something else was chosen, and what it
// holds then, in the words of the same run.
func Leaves(other Otherwise, recorded, observed map[string]string) (left, found map[string]string) {
	left, found = map[string]string{}, map[string]string{}
	for path, value := range recorded {
		left[other.recorded(path)] = other.recorded(value)
	}
	for path, value := range observed {
		found[other.observed(path)] = other.observed(value)
	}
	other.kept(recorded, left, found)
	return left, found
}

// eachShown calls a function for all that is shown of objects in some runs. There is no content where an event says
// that there is no object.
func eachShown(runs []Run, show func(core.Key, core.Content)) {
	for _, run := range runs {
		if e := run.Activation.Event; e != nil {
			show(e.Key, e.Old)
			show(e.Key, e.New)
		}
		for _, edge := range run.Path {
			versioned, ok := edge.Response.(core.Versioned)
			if !ok {
				continue
			}
			for _, object := range versioned.Versions() {
				show(object.Key, object.Content)
			}
		}
	}
}

// Tags are the names of versions by the objects that they are of.
type Tags map[core.Key][]string

// TagsIn returns the names of versions that are shown in some runs.
func TagsIn(runs []Run) Tags {
	names := Tags{}
	for key, contents := range TaggedIn(runs) {
		for _, content := range contents {
			names[key] = append(names[key], content.Tag())
		}
	}
	return names
}

// ChosenIn returns the names of objects that their store has chosen as it liked, of those that are shown in some runs.
func ChosenIn(runs []Run) Tags {
	names := Tags{}
	eachShown(runs, func(key core.Key, content core.Content) {
		if identified, ok := content.(core.Identified); ok && identified.Chosen() != "" && !slices.Contains(names[key], identified.Chosen()) {
			names[key] = append(names[key], identified.Chosen())
		}
	})
	return names
}

// Nudged returns for each name another one of the same length in the same order, as names differ before their ends.
func (t Tags) Nudged() map[string]string {
	others := map[string]string{}
	for _, names := range t {
		for _, name := range names {
			last := "0"
			if strings.HasSuffix(name, last) {
				last = "1"
			}
			others[name] = name[:len(name)-1] + last
		}
	}
	return others
}

// TaggedIn returns the versions with names that are shown in some runs, each name of an object once.
func TaggedIn(runs []Run) map[core.Key][]core.Tagged {
	shown := map[core.Key][]core.Tagged{}
	eachShown(runs, func(key core.Key, content core.Content) {
		tagged, ok := content.(core.Tagged)
		if ok && tagged.Tag() != "" && !slices.ContainsFunc(shown[key], func(known core.Tagged) bool { return known.Tag() == tagged.Tag() }) {
			shown[key] = append(shown[key], tagged)
		}
	})
	return shown
}

// keys returns the objects in order.
func (t Tags) keys() []core.Key { return slices.SortedFunc(maps.Keys(t), core.Key.Compare) }

// Exchanged returns for each name another one so that those of a kind are in the opposite order, or nil if there are no
// two of a kind. If the names are known to be in the order of age, those of one object stay in it, and only the objects
// of a kind are in the opposite order.
func (t Tags) Exchanged(ordered bool) map[string]string {
	others := map[string]string{}
	for _, rows := range t.rows(ordered) {
		if len(rows) < 2 {
			continue
		}
		all := slices.Concat(rows...)
		slices.SortFunc(all, byNumber)
		slices.SortFunc(rows, func(a, b []string) int { return byNumber(b[0], a[0]) })
		for i, name := range slices.Concat(rows...) {
			others[name] = all[i]
		}
	}
	if len(others) == 0 {
		return nil
	}
	return others
}

// rows returns the names of each kind that may be exchanged for each other, in rows that stay in their order: those of
// an object, or each by itself. Objects that share a name are in one row, and their kinds are as one, since a name is
// exchanged wherever it stands.
func (t Tags) rows(ordered bool) [][][]string {
	var rows, kinds [][]string
	of := map[core.Kind][]string{}
	for _, key := range t.keys() {
		of[key.Kind] = append(of[key.Kind], t[key]...)
		length := 1
		if ordered {
			length = max(1, len(t[key]))
		}
		for names := range slices.Chunk(t[key], length) {
			rows = unite(rows, names)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(of)) {
		kinds = unite(kinds, of[kind])
	}
	var all [][][]string
	for _, names := range kinds {
		all = append(all, slices.DeleteFunc(slices.Clone(rows), func(row []string) bool { return !slices.Contains(names, row[0]) }))
	}
	return all
}

// unite adds names to rows that have none in common, as one row with those in which some of them are. Each row is in
// order.
func unite(rows [][]string, names []string) [][]string {
	united := slices.Clone(names)
	apart := slices.DeleteFunc(slices.Clone(rows), func(row []string) bool {
		meets := slices.ContainsFunc(row, func(name string) bool { return slices.Contains(names, name) })
		if meets {
			united = append(united, row...)
		}
		return meets
	})
	slices.SortFunc(united, byNumber)
	return append(apart, slices.Compact(united))
}

// Beside returns other names for versions of which some more stand in objects, given all of them: those that do are in
// the opposite order, and newer than all others, or older than all others, which stay in theirs.
func (t Tags) Beside(all Tags) []map[string]string {
	shown, noted := map[core.Kind][]string{}, map[core.Kind][]string{}
	for _, key := range all.keys() {
		for _, name := range all[key] {
			if slices.Contains(t[key], name) {
				shown[key.Kind] = append(shown[key.Kind], name)
			} else {
				noted[key.Kind] = append(noted[key.Kind], name)
			}
		}
	}
	newer, older := map[string]string{}, map[string]string{}
	for _, kind := range slices.Sorted(maps.Keys(noted)) {
		names := noted[kind]
		slices.SortFunc(names, func(a, b string) int { return byNumber(b, a) })
		slices.SortFunc(shown[kind], byNumber)
		sorted := slices.SortedFunc(slices.Values(slices.Concat(names, shown[kind])), byNumber)
		for i, name := range sorted {
			newer[slices.Concat(shown[kind], names)[i]], older[slices.Concat(names, shown[kind])[i]] = name, name
		}
	}
	return slices.DeleteFunc([]map[string]string{newer, older}, func(others map[string]string) bool {
		return !slices.ContainsFunc(slices.Collect(maps.Keys(others)), func(name string) bool { return others[name] != name })
	})
}

// Shifted returns for each name another one of the same length in the same order.
func (t Tags) Shifted() map[string]string {
	others := map[string]string{}
	for _, names := range t {
		for _, name := range names {
			digits := strings.TrimLeftFunc(name, func(r rune) bool { return r < '0' || r > '9' })
			if n, err := strconv.ParseUint(digits, 10, 64); err == nil {
				others[name] = strings.TrimSuffix(name, digits) + fmt.Sprintf("%0*d", len(digits), n+1)
			}
		}
	}
	return others
}

// byNumber compares names as numbers: those of the same length are in the order of texts.
func byNumber(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }
