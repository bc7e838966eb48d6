package observe

import (
	"errors"
	"fmt"
	"hash/fnv"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// closeWithin is how long the end of a recording may wait for what is still to be written.
const closeWithin = 5 * time.Second

// Recorder records what the controllers of a process do. All its methods may be called at any time by any goroutine.
type Recorder struct {
	options  Options
	started  time.Time
	requests []RequestType
	current  dispatches
	workers  workers
	types    typesOf
	kinds    kinds
	same     comparisons

	// on tells that entries are taken. It is false while the recording is paused, and after its end.
	on   atomic.Bool
	over atomic.Bool
	// failed tells that the recording ended because of an error.
	failed atomic.Bool
	// wake has something in it when the writer is to look at what waits, and stop is closed when it is to end.
	wake chan struct{}
	stop chan struct{}
	done chan struct{}

	mu     sync.Mutex
	number uint64
	// waiting is what the writer has not taken yet, of some weight, and held the weight of that and of what is being
	// written.
	waiting      []item
	weight, held weight
	lost         live.Gap
	paused       time.Duration
	// known are the versions of objects that were handed to the writer for the current file, and before it was cleared
	// the last time.
	seed          maphash.Seed
	known, former map[uint64]struct{}
	recent        recent
	closing       sync.Once
}

// item is an entry on its way to the writer. The objects are copies of its own.
type item struct {
	entry live.Entry
	// shown are the objects of an event (the object and the old one) or of an answer.
	shown []version
	// sent is the body of a write: an object, or a patch as JSON. Kind says whose rules of redaction it has.
	sent  body
	waits weight
}

// weight is how much of the buffer something takes.
type weight struct{ entries, bytes int }

func (w weight) plus(other weight) weight {
	return weight{w.entries + other.entries, w.bytes + other.bytes}
}
func (w weight) minus(other weight) weight {
	return weight{w.entries - other.entries, w.bytes - other.bytes}
}

// entryBytes is about what an entry takes in memory without its objects.
const entryBytes = 1 << 10

// entries is how many entries are lost with an item.
func (i item) entries() int {
	if gap, is := i.entry.(live.Gap); is {
		return gap.Entries
	}
	return 1
}

// body is what was sent.
type body struct {
	object runtime.Object
	text   []byte
}

// weightOf is what a body adds to that of its entry.
func (r *Recorder) weightOf(b body) weight {
	switch {
	case b.object != nil:
		return weight{1, r.types.bytesOf(b.object, r.options.BufferBytes)}
	case b.text != nil:
		return weight{1, len(b.text)}
	}
	return weight{}
}

// version is one version of an object, as somebody saw it.
type version struct {
	key     core.Key
	uid, rv string
	form    string // as in live.Object
	// same is the form in which the writer has the same object, nil if it has none.
	same *string
	// object is nil if the writer has it already, and bytes is about how much memory it takes.
	object runtime.Object
	bytes  int
}

// knownLimit bounds the memory for the versions that are known: some two megabytes.
const knownLimit = 32 << 10

// newRecorder returns a recorder that records, unless the options say otherwise. With options that are wrong it never
// does, and reports that.
func newRecorder(options Options) *Recorder {
	complete, err := options.withDefaults()
	r := &Recorder{
		options: complete, started: time.Now(),
		requests: append([]RequestType{ordinary()}, complete.Requests...),
		wake:     make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
		seed: maphash.MakeSeed(), known: map[uint64]struct{}{},
	}
	if err != nil {
		close(r.done)
		r.giveUp(fmt.Errorf("options of package observe: %w", err))
		return r
	}
	r.on.Store(!complete.Off)
	go newEncoder(r).run()
	return r
}

// Pause switches the recording off. What goes on is not recorded until [Recorder.Resume].
func (r *Recorder) Pause() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.on.CompareAndSwap(true, false) {
		r.paused = time.Since(r.started)
	}
}

// Resume switches the recording on, unless it has ended.
func (r *Recorder) Resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over.Load() || r.on.Swap(true) {
		return
	}
	r.take(item{entry: live.Gap{At: r.paused, Until: time.Since(r.started), Reason: live.Paused}, waits: weight{1, entryBytes}})
}

// Close ends the recording and waits, for five seconds at most, until it is written. The end of the manager does so as
// well.
func (r *Recorder) Close() error {
	r.on.Store(false)
	ended := r.over.Swap(true)
	r.closing.Do(func() { close(r.stop) })
	timeout := time.NewTimer(closeWithin)
	defer timeout.Stop()
	select {
	case <-r.done:
	case <-timeout.C:
		if !ended {
			return errors.New("the recording is not complete: its file took too long to be written")
		}
	}
	return nil
}

// giveUp ends the recording because of an error, which is reported once.
func (r *Recorder) giveUp(err error) {
	r.on.Store(false)
	r.over.Store(true)
	if r.failed.Swap(true) {
		return
	}
	r.mu.Lock()
	r.waiting, r.known, r.former, r.recent = nil, map[uint64]struct{}{}, nil, recent{}
	r.mu.Unlock()
	r.report(fmt.Errorf("the recording ends: %w", err))
}

// ended tells the user that a file of the folder has ended.
func (r *Recorder) ended(file *counted) {
	if part, is := file.WriteCloser.(*partFile); is && r.options.Ended != nil {
		defer func() { _ = recover() }() // it is not ours, and not worth a controller
		r.options.Ended(part.Name())
	}
}

// report tells the user what goes wrong.
func (r *Recorder) report(err error) {
	if r.options.Report != nil {
		defer func() { _ = recover() }() // it is not ours, and not worth a controller
		r.options.Report(err)
	}
}

// contain keeps what goes wrong in the recorder from the controller. It is deferred by each function that runs in a
// goroutine of the controller's.
func (r *Recorder) contain() {
	if panicked := recover(); panicked != nil {
		r.giveUp(fmt.Errorf("the recorder panicked: %v", panicked))
	}
}

// now returns the time that entries have.
func (r *Recorder) now() time.Duration { return time.Since(r.started) }

// next adds the entry that make returns for its number. It returns the number, 0 if nothing is recorded. The shown
// objects must be copies that nobody changes.
func (r *Recorder) next(shown []version, sent body, entry func(n uint64, now time.Duration) live.Entry) uint64 {
	if !r.on.Load() {
		return 0
	}
	waits := weight{1, entryBytes}.plus(r.weightOf(sent))
	for _, v := range shown {
		if v.object != nil {
			waits = waits.plus(weight{1, v.bytes})
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.number++
	r.take(item{entry: entry(r.number, r.now()), shown: shown, sent: sent, waits: waits})
	return r.number
}

// take hands an item to the writer, or drops it. The caller holds the lock.
func (r *Recorder) take(i item) {
	held := r.held.plus(i.waits)
	if held.entries > r.options.Buffer || held.bytes > r.options.BufferBytes {
		now := r.now()
		if r.lost.Entries == 0 {
			r.lost = live.Gap{At: now, Reason: live.Overload}
		}
		r.lost.Entries++
		r.lost.Until = now
		return
	}
	r.weight, r.held = r.weight.plus(i.waits), held
	r.waiting = append(r.waiting, i)
	for _, v := range i.shown {
		if v.object == nil && v.same == nil {
			continue
		}
		whole := r.hashOf(v, anyForm)
		if v.object != nil || v.same != nil && r.recent.find(whole) != nil { // which a new file does not have
			r.learn(r.hash(v))
		}
		if v.object != nil && v.rv != "" {
			r.recent.add(whole, v)
		}
	}
	// The writer looks by itself every now and then. To wake it costs more than most entries do: it is done when it has
	// work for a while, and room for more is left.
	if r.weight.entries < max(1, r.options.Buffer/wakeShare) && r.weight.bytes < r.options.BufferBytes/wakeShare {
		return
	}
	select {
	case r.wake <- struct{}{}:
	default: // it is awake
	}
}

// wakeShare is the share of the buffer at which the writer is woken.
const wakeShare = 8

// learn notes that the writer has a version.
func (r *Recorder) learn(hash uint64) {
	if len(r.known) >= knownLimit {
		r.known, r.former = map[uint64]struct{}{}, r.known
	}
	r.known[hash] = struct{}{}
}

// hash returns what a version is known by.
func (r *Recorder) hash(v version) uint64 { return r.hashOf(v, v.form) }

// hashOf returns a hash of a version, whatever its form, and of something more.
func (r *Recorder) hashOf(v version, more string) uint64 {
	var h maphash.Hash
	h.SetSeed(r.seed)
	for _, part := range [...]string{more, string(v.key.Kind), v.key.Namespace, v.key.Name, v.uid, v.rv} {
		_, _ = h.WriteString(part) // it never fails
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// has reports whether the writer has a version. If it does not, it may have it in another form.
func (r *Recorder) has(v version) (known bool, other *seen) {
	if v.rv == "" {
		return false, nil // it may have changed since
	}
	hash, whole := r.hash(v), r.hashOf(v, anyForm)
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.known[hash]; ok {
		return true, nil
	}
	if _, ok := r.former[hash]; ok {
		r.learn(hash)
		return true, nil
	}
	return false, r.recent.find(whole)
}

// handOver gives the writer all that waits, with a gap behind it if something was dropped.
func (r *Recorder) handOver() []item {
	r.mu.Lock()
	defer r.mu.Unlock()
	items := r.waiting
	r.waiting, r.weight = nil, weight{}
	if r.lost.Entries > 0 {
		items = append(items, item{entry: r.lost})
		r.lost = live.Gap{}
	}
	return items
}

// written makes room for others.
func (r *Recorder) written(i item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = r.held.minus(i.waits)
}

// forget tells that a new file has no objects.
func (r *Recorder) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known, r.former, r.recent = map[uint64]struct{}{}, nil, recent{}
}

// samples reports whether an object is among those that are recorded.
func (r *Recorder) samples(namespace, name string) bool {
	if r.options.Share == 0 {
		return true
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(namespace + "/" + name)) // it never fails
	mixed := h.Sum64() * 0x9e3779b97f4a7c15        // the upper bits of FNV hardly depend on the last letters
	return float64(mixed>>11)/(1<<53) < r.options.Share
}

// unseen notes what is not recorded.
func (r *Recorder) unseen(controller, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.take(item{entry: live.Unseen{At: r.now(), Controller: controller, Reason: reason}, waits: weight{1, entryBytes}})
}
