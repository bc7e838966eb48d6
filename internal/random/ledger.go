package random

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// Ledgers returns the system of a seed, of a family in which controllers keep a few bits for each request: what they do
// for it depends on these, and event handlers and reconciles change them. In some of the systems, what is kept for one
// request has to do with another one, in one way or another.
func Ledgers(seed uint64) (*core.System, error) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 12))}
	system, err := g.system(fmt.Sprintf("ledgers %d", seed), false)
	if err != nil {
		return nil, err
	}
	keepLedgers(g.Rand, system)
	return system, nil
}

// LooseLedgers returns the system of a seed, of a family of such controllers for which many orders of steps do not
// matter, some of which heed which of two versions is newer. Its store is not for the naive twin.
func LooseLedgers(seed uint64) (*core.System, error) {
	g := &loose{Rand: rand.New(rand.NewPCG(seed, 14)), narrows: seed%2 == 0}
	system, err := g.system(fmt.Sprintf("loose ledgers %d", seed))
	if err != nil {
		return nil, err
	}
	keepLedgers(g.Rand, system)
	system.Store = shelf{versioned: g.IntN(4) > 0}
	for _, strategy := range system.Strategies {
		if l, keeps := strategy.(*ledger); keeps {
			l.compares = g.IntN(3) == 0
		}
	}
	return system, nil
}

// AgedLedgers returns the system of a seed, of a family of such controllers that see when objects were created, some of
// which heed which of two objects is older. Its store is not for the naive twin.
func AgedLedgers(seed uint64) (*core.System, error) {
	system, err := LooseLedgers(seed)
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(seed, 15))
	reveal(system, func(s *shelf) { s.dated = true }, func(t *thing) { t.created = noon })
	for _, strategy := range system.Strategies {
		if l, keeps := strategy.(*ledger); keeps {
			l.compares, l.ages, l.rising = r.IntN(6) == 0, []age{"", "", ofKind, ofAny, ofFirst}[r.IntN(5)], r.IntN(2) == 0
		}
	}
	return system, nil
}

// CountedLedgers returns the system of a seed, of a family of such controllers that see how often objects were changed,
// some of which keep that, and heed it. Its store is not for the naive twin.
func CountedLedgers(seed uint64) (*core.System, error) {
	system, err := LooseLedgers(seed)
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(seed, 16))
	reveal(system, func(s *shelf) { s.counts = true }, func(t *thing) { t.count = 1 })
	for _, strategy := range system.Strategies {
		if l, keeps := strategy.(*ledger); keeps {
			l.compares, l.heeds = r.IntN(6) == 0, []heed{"", sameCount, firstCount, lateCount}[r.IntN(4)]
		}
	}
	return system, nil
}

// reveal has the shelf of a system show more of its objects, which they have from the start.
func reveal(system *core.System, shows func(*shelf), has func(*thing)) {
	store := system.Store.(shelf)
	shows(&store)
	system.Store = store
	for _, initial := range system.Initial {
		for i, o := range initial.Objects {
			t := o.Content.(thing)
			has(&t)
			initial.Objects[i].Content = t
		}
	}
}

// heed is what of the numbers that are counted of objects a controller heeds.
type heed string

const (
	// sameCount heeds whether the number of an object that a run reads is the one that an earlier run for the request
	// has kept.
	sameCount heed = "same"
	// firstCount heeds whether it is the first one, and lateCount whether it is larger than the second.
	firstCount heed = "first"
	lateCount  heed = "late"
)

// age is which objects a controller compares by their ages.
type age string

const (
	// ofKind compares an object that a run reads with those of its kind that it has read before, and ofAny with all of
	// them.
	ofKind age = "of a kind"
	ofAny  age = "of any kind"
	// ofFirst compares an object that an event shows with one that an earlier event has shown.
	ofFirst age = "of the first"
)

// keepLedgers has most of the controllers of a system keep something for each request.
func keepLedgers(r *rand.Rand, system *core.System) {
	g := &generator{Rand: r}
	entangled := g.IntN(2) == 0
	for i, strategy := range system.Strategies {
		if d := strategy.Describe(); d.Messages || len(d.Standing) > 0 || g.IntN(6) == 0 {
			continue
		}
		l := &ledger{Strategy: strategy, at: g.IntN(minds)}
		for bits := range minds {
			l.onEvent[bits], l.onRun[bits], l.onFailure[bits] = g.bits(bits), g.bits(bits), g.bits(bits)
			l.mute[bits], l.skip[bits] = g.IntN(4) == 0, g.IntN(4) == 0
		}
		if g.IntN(3) == 0 {
			l.marks[1+g.IntN(minds-1)] = true
		}
		if l.onEvent[0] = 0; entangled {
			l.entangled = tangles[g.IntN(len(tangles))]
		}
		if l.entangled == notes {
			l.onEvent[0] = g.bits(0)
		}
		system.Strategies[i] = l
	}
}

// tangle is how what is kept for one request has to do with another one.
type tangle string

const (
	// skips does nothing for a request if enough is kept for another one.
	skips tangle = "skips"
	// wipes forgets what is kept for another request in some runs.
	wipes tangle = "wipes"
	// counts keeps how many runs there were, up to a few, and does nothing in the last of them.
	counts tangle = "counts"
	// hushes enqueues nothing for a request if enough is kept for another one.
	hushes tangle = "hushes"
	// rouses enqueues a request besides another one for which enough is kept.
	rouses tangle = "rouses"
	// notes keeps something as soon as there is an event.
	notes tangle = "notes"
	// echoes lets an event change what is kept for all requests for which there is anything.
	echoes tangle = "echoes"
)

var tangles = [...]tangle{skips, wipes, counts, hushes, rouses, notes, echoes}

// ledger is a controller that keeps bits for each request.
type ledger struct {
	core.Strategy
	onEvent, onRun, onFailure [minds]int
	mute, skip                [minds]bool
	entangled                 tangle
	// marks tells in which memories an event has it remember the version that there is then. One of another version
	// than the next one takes its bits for the next.
	marks [minds]bool
	// compares tells that it heeds which of two versions of an object is newer: of those that an event shows, of one of
	// these and the one that is remembered, and of two that a run reads.
	compares bool
	// ages is which objects it compares by their ages, empty if it does not.
	ages age
	// rising tells that it heeds of those which it reads that one is younger, and not that it is older.
	rising bool
	// heeds is what it heeds of the numbers that are counted of objects.
	heeds heed
	// errands is what it leaves to goroutines, nil if it leaves nothing.
	errands *errands
	// at is how much it takes for another request to have something to do with it.
	at int
}

// New implements [core.Strategy].
func (l *ledger) New() (core.Instance, error) {
	inner, err := l.Strategy.New()
	return &booked{ledger: l, Instance: inner, kept: map[core.Request]int{}, marked: map[core.Request]string{}, counted: map[core.Request]int{}, lock: make(chan struct{}, 1)}, err
}

// Remember returns an instance that remembers something, which is what [booked.Remembers] returned.
func (l *ledger) Remember(memory string) core.Instance {
	instance, err := l.New()
	if err != nil {
		panic(err)
	}
	b := instance.(*booked)
	for _, entry := range strings.Fields(memory) {
		if errand, is := errandOf(entry); is {
			b.left = append(b.left, errand)
			continue
		}
		request, bits, _ := strings.Cut(entry, "=")
		n, err := strconv.Atoi(bits)
		if err != nil {
			panic(err)
		}
		if request == "runs" {
			b.runs = n
		} else {
			b.kept[core.Request(request)] = n
		}
	}
	return b
}

// booked is a controller that keeps something.
type booked struct {
	*ledger
	core.Instance
	kept map[core.Request]int
	// marked are versions of objects. They are only there if bits are kept, too. Seen is when the first object was
	// created that an event has shown.
	marked map[core.Request]string
	seen   string
	// counted is the number of the object that the last run for a request has read first.
	counted map[core.Request]int
	runs    int
	// left are the requests for which something is left to goroutines, and background is what these call.
	left       []core.Request
	background core.EffectRecorder
	lock       chan struct{}
}

// Remembers returns what it remembers, empty if it is nothing.
func (b *booked) Remembers() string {
	var entries []string
	for _, request := range slices.Sorted(maps.Keys(b.kept)) {
		entries = append(entries, fmt.Sprintf("%s=%d", request, b.kept[request]))
	}
	if b.runs > 0 {
		entries = append(entries, fmt.Sprintf("runs=%d", b.runs))
	}
	return strings.Join(append(entries, b.remembersErrands()...), " ")
}

// Memory implements [core.Introspective].
func (b *booked) Memory() map[string]string {
	shown := map[string]string{"kept": strconv.Itoa(len(b.kept)), "runs": strconv.Itoa(b.runs)}
	for request, bits := range b.kept {
		shown["kept["+string(request)+"]"] = strconv.Itoa(bits)
	}
	for request, version := range b.marked {
		shown["marked["+string(request)+"]"] = version
	}
	for request, count := range b.counted {
		shown["counted["+string(request)+"]"] = strconv.Itoa(count)
	}
	if b.seen != "" {
		shown["seen"] = b.seen
	}
	b.showErrands(shown)
	return shown
}

// mark remembers the version that an event shows, if anything is kept for a request, or heeds that it is not the one
// behind the one that is remembered.
func (b *booked) mark(request core.Request, event core.Event) {
	version := func(c core.Content) string {
		if tagged, ok := c.(core.Tagged); ok {
			return tagged.Tag()
		}
		return ""
	}
	was := b.marked[request]
	if was != "" && version(event.Old) != was {
		b.keep(request, (b.kept[request]+1)%minds)
	}
	if b.compares && (older(version(event.New), version(event.Old)) || older(version(event.New), was)) {
		b.keep(request, (b.kept[request]+1)%minds)
	}
	if now := version(event.New); now != "" && b.marks[b.kept[request]] {
		b.marked[request] = now
	}
}

// older reports whether the first of two versions is older than the second, if there are both.
func older(one, other string) bool { return one != "" && other != "" && one < other }

// comparing hands calls on, and notes whether a later answer to one shows an older version.
type comparing struct {
	core.EffectRecorder
	newest map[core.Key]string
	back   bool
	// youngest is when the youngest object of each kind was created that was shown, or of all kinds together; turned
	// tells that one that was shown later is older, or younger if that is what counts.
	youngest map[core.Kind]string
	together bool
	turned   bool
	rising   bool
	// count is the number of the first object that was shown.
	count int
}

// Do implements [core.EffectRecorder].
func (c *comparing) Do(asked core.Call) core.Response {
	response := c.EffectRecorder.Do(asked)
	if versioned, ok := response.(core.Versioned); ok {
		for _, o := range versioned.Versions() {
			tagged, ok := o.Content.(core.Tagged)
			if !ok {
				continue
			}
			if t, counts := o.Content.(thing); counts && c.count == 0 {
				c.count = t.count
			}
			c.back = c.back || older(tagged.Tag(), c.newest[o.Key])
			c.newest[o.Key] = max(c.newest[o.Key], tagged.Tag())
			if kind, created := o.Key.Kind, o.Content.(core.Aged).Created(); created != "" {
				if c.together {
					kind = ""
				}
				if c.rising {
					c.turned = c.turned || older(c.youngest[kind], created)
				} else {
					c.turned = c.turned || older(created, c.youngest[kind])
				}
				c.youngest[kind] = max(c.youngest[kind], created)
			}
		}
	}
	return response
}

// keep keeps bits for a request.
func (b *booked) keep(request core.Request, bits int) {
	if b.kept[request] = bits; bits == 0 {
		delete(b.kept, request)
		delete(b.marked, request)
	}
}

// heedsCount keeps the number of an object for a request, and reports whether something is done because of it.
func (b *booked) heedsCount(request core.Request, count int) bool {
	switch {
	case count == 0:
		return false
	case b.heeds == sameCount:
		was := b.counted[request]
		b.counted[request] = count
		return was == count
	case b.heeds == firstCount:
		return count == 1
	}
	return b.heeds == lateCount && count > 2
}

// others reports whether enough is kept for another request.
func (b *booked) others(request core.Request) bool {
	for other, bits := range b.kept {
		if other != request && bits >= max(1, b.at) {
			return true
		}
	}
	return false
}

// Handle implements [core.Instance].
func (b *booked) Handle(recorder core.EffectRecorder, event core.Event) []core.Request {
	requests := b.Instance.Handle(recorder, event)
	about := requests
	if b.entangled == echoes && event.New == nil {
		about = slices.Sorted(maps.Keys(b.kept))
	}
	var asked []core.Request
	for _, request := range about {
		b.keep(request, b.onEvent[b.kept[request]])
		b.mark(request, event)
	}
	if aged, shows := event.New.(core.Aged); shows && b.ages == ofFirst {
		if older(aged.Created(), b.seen) && len(about) > 0 {
			b.keep(about[0], (b.kept[about[0]]+1)%minds)
		}
		if b.seen == "" {
			b.seen = aged.Created()
		}
	}
	for _, request := range requests {
		if b.mute[b.kept[request]] || b.entangled == hushes && b.others(request) {
			continue
		}
		asked = append(asked, request)
	}
	if b.entangled == rouses {
		for _, request := range slices.Sorted(maps.Keys(b.kept)) {
			if b.others(request) && !slices.Contains(asked, request) {
				asked = append(asked, request)
			}
		}
	}
	return asked
}

// Reconcile implements [core.Instance].
func (b *booked) Reconcile(recorder core.EffectRecorder, request core.Request) core.Result {
	before := b.kept[request]
	if b.entangled == counts {
		b.runs = min(b.runs+1, minds-1)
	}
	if b.skip[before] || b.entangled == skips && b.others(request) || b.runs == minds-1 {
		b.keep(request, b.onRun[before])
		return core.Result{}
	}
	if b.errands != nil && b.errands.leaves[before] {
		b.leave(request)
		b.keep(request, b.onRun[before])
		return core.Result{}
	}
	looking := &comparing{EffectRecorder: recorder, newest: map[core.Key]string{}, youngest: map[core.Kind]string{}, together: b.ages == ofAny, rising: b.rising}
	result := b.Instance.Reconcile(looking, request)
	switch {
	case result.Blocked:
		return result
	case b.heedsCount(request, looking.count), b.compares && looking.back, (b.ages == ofKind || b.ages == ofAny) && looking.turned:
		b.keep(request, (before+1)%minds)
	case result.Err != nil:
		b.keep(request, b.onFailure[before])
	default:
		b.keep(request, b.onRun[before])
	}
	if b.entangled == wipes && before == b.at {
		for other := range b.kept {
			if other != request {
				b.keep(other, 0)
			}
		}
	}
	return result
}
