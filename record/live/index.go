package live

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// An index stands aside behind the blocks that it is about. It starts with their number and their sizes in the file.
// The entries of these blocks follow, abridged to what a question needs to find its way: numbers, times, names and
// versions, and what refers to what. Entries that are rare are in it as they are. Texts, keys and numbers that are near
// the last one are short. Each index can be read alone.

// indexed is the size of an index from which on it is written: it is about some megabytes of entries.
const indexed = 256 << 10

// nextBlock is the row that stands between the entries of two blocks.
const nextBlock = 0

// The flags of rows.
const (
	flagValued = 1 << iota
	flagInitial
	flagMissed
	flagCached
	flagFailed
	flagDryRun
)

// indexWriter collects the index of the blocks since the last one was written.
type indexWriter struct {
	sizes   []int64
	rows    []byte
	state   rowState
	objects int
	texts   map[string]uint64
	keys    map[core.Key]uint64
}

// rowState is what rows are told relative to.
type rowState struct {
	n  uint64
	at time.Duration
	rv uint64
}

// size returns how large the index has become. It is nothing while no block was written.
func (w *indexWriter) size() int {
	if len(w.sizes) == 0 {
		return 0
	}
	return len(w.rows)
}

// block notes that a block was written: what is added next is in another one.
func (w *indexWriter) block(size int64) {
	w.sizes = append(w.sizes, size)
	w.rows = append(w.rows, nextBlock)
}

// take returns the index, and begins another one.
func (w *indexWriter) take() []byte {
	text := binary.AppendUvarint(nil, uint64(len(w.sizes)))
	for _, size := range w.sizes {
		text = binary.AppendUvarint(text, uint64(size))
	}
	text = append(text, w.rows...)
	*w = indexWriter{rows: w.rows[:0], objects: w.objects}
	return text
}

// add adds an entry with its JSON.
func (w *indexWriter) add(e Entry, payload []byte) {
	if w.texts == nil {
		w.texts, w.keys = map[string]uint64{}, map[core.Key]uint64{}
	}
	switch e := e.(type) {
	case Queued: // nothing refers to it that needs it
	case Object:
		w.rows = append(w.rows, byte(objectTag), flag(flagValued, e.Value != nil))
		w.key(e.Key)
		w.text(e.UID)
		w.version(e.ResourceVersion)
		w.text(e.Form)
		w.objects++
	case Event:
		w.rows = append(w.rows, byte(eventTag), flag(flagInitial, e.Initial)|flag(flagMissed, e.Missed))
		w.moment(e.N, e.At)
		w.text(e.Controller)
		w.text(e.Type)
		w.refers(e.Object)
		w.refers(e.Old)
	case Begin:
		w.rows = append(w.rows, byte(beginTag))
		w.moment(e.N, e.At)
		w.text(e.Controller)
		w.text(e.Request)
	case Call:
		w.call(e)
	case Done:
		w.rows = append(w.rows, byte(doneTag))
		w.moment(e.N, e.At)
		w.owner(e.Reconcile)
	default:
		w.rows = append(w.rows, byte(e.tag()))
		w.rows = binary.AppendUvarint(w.rows, uint64(len(payload)))
		w.rows = append(w.rows, payload...)
	}
}

func (w *indexWriter) call(e Call) {
	w.rows = append(w.rows, byte(callTag), flag(flagCached, e.Cached)|flag(flagFailed, e.Failed != nil)|flag(flagDryRun, e.Write != nil && e.Write.DryRun))
	w.moment(e.N, e.At)
	w.rows = binary.AppendVarint(w.rows, int64(e.Took))
	w.owner(e.Reconcile)
	w.text(e.Client)
	w.text(e.Verb)
	w.key(e.Object)
	w.text(e.Subresource)
	w.version(e.Base)
	w.version(e.ListVersion)
	if e.Failed != nil {
		w.rows = binary.AppendVarint(w.rows, int64(e.Failed.Code))
	}
	w.rows = binary.AppendUvarint(w.rows, uint64(len(e.Answer)))
	for _, number := range e.Answer {
		w.refers(number)
	}
}

func flag(bit byte, is bool) byte {
	if is {
		return bit
	}
	return 0
}

// moment adds the number and the time of an entry.
func (w *indexWriter) moment(n uint64, at time.Duration) {
	w.rows = binary.AppendVarint(w.rows, int64(n-w.state.n))
	w.rows = binary.AppendVarint(w.rows, int64(at-w.state.at))
	w.state.n, w.state.at = n, at
}

// owner adds the number of the reconcile that the last entry belongs to.
func (w *indexWriter) owner(n uint64) {
	if n == 0 {
		w.rows = append(w.rows, 0)
		return
	}
	w.rows = binary.AppendUvarint(w.rows, w.state.n-n+1)
}

// refers adds the number of an object.
func (w *indexWriter) refers(number int) {
	w.rows = binary.AppendVarint(w.rows, int64(w.objects-number))
}

// text adds a text, by its number if it was there.
func (w *indexWriter) text(s string) {
	if number, known := w.texts[s]; known {
		w.rows = binary.AppendUvarint(w.rows, number)
		return
	}
	w.texts[s] = uint64(len(w.texts)) + 1
	w.rows = append(w.rows, 0)
	w.rows = binary.AppendUvarint(w.rows, uint64(len(s)))
	w.rows = append(w.rows, s...)
}

// key adds the key of an object, by its number if it was there.
func (w *indexWriter) key(k core.Key) {
	if number, known := w.keys[k]; known {
		w.rows = binary.AppendUvarint(w.rows, number)
		return
	}
	w.keys[k] = uint64(len(w.keys)) + 1
	w.rows = append(w.rows, 0)
	w.text(string(k.Kind))
	w.text(k.Namespace)
	w.text(k.Name)
}

// The kinds of resource versions.
const (
	noVersion      = 0
	textVersion    = 1
	numericVersion = 2 // and up: twice the difference to the last one, and one more if it is lower
)

// version adds a resource version.
func (w *indexWriter) version(rv string) {
	n, err := strconv.ParseUint(rv, 10, 64)
	switch {
	case rv == "":
		w.rows = append(w.rows, noVersion)
	case err != nil || n > math.MaxInt64/4 || strconv.FormatUint(n, 10) != rv:
		w.rows = append(w.rows, textVersion)
		w.text(rv)
	default:
		difference := int64(n - w.state.rv)
		w.rows = binary.AppendUvarint(w.rows, numericVersion+(uint64(difference<<1)^uint64(difference>>63)))
		w.state.rv = n
	}
}

// errLeftOut tells that an entry is in the index, and not asked for.
var errLeftOut = errors.New("left out")

// errIndex is the reason where an index is not what a writer writes.
var errIndex = errors.New("an index is not what it should be")

// indexReader reads the rows of an index.
type indexReader struct {
	rows    []byte
	state   rowState
	objects int
	texts   []string
	keys    []*core.Key
	// table is the number of the index, from 1: it has its own numbers of keys.
	table int
	// numbers is room for answers, most of which are one number long.
	numbers []int
	failed  bool
}

// answerRoom is how many numbers of answers share memory. What keeps one answer keeps all of them.
const answerRoom = 64

// start begins to read the rows of another index, behind so many objects.
func (r *indexReader) start(rows []byte, objects int) *indexReader {
	*r = indexReader{rows: rows, objects: objects, texts: r.texts[:0], keys: r.keys[:0], table: r.table + 1, numbers: r.numbers}
	return r
}

// sizesOf returns the sizes of the blocks that an index is about, and the rows behind.
func sizesOf(index []byte) (sizes []int64, rows []byte, err error) {
	r := indexReader{rows: index}
	count := r.unsigned()
	if count > uint64(len(index)) {
		return nil, nil, errIndex
	}
	for range count {
		sizes = append(sizes, int64(r.unsigned()))
	}
	if r.failed {
		return nil, nil, errIndex
	}
	return sizes, r.rows, nil
}

// next returns the next entry, nil for the border between two blocks. The error is errLeftOut for a part of a reconcile
// if these are left out.
func (r *indexReader) next(flat bool) (Entry, error) {
	kind := tag(r.octet())
	var e Entry
	switch kind {
	case nextBlock:
	case objectTag:
		flags := r.octet()
		e = Object{outlined: flags&flagValued != 0, Key: r.key(), UID: r.text(), ResourceVersion: r.version(), Form: r.text()}
		r.objects++
	case eventTag:
		flags := r.octet()
		n, at := r.moment()
		e = Event{
			N: n, At: at, Controller: r.text(), Type: r.text(), Object: r.reference(), Old: r.reference(),
			Initial: flags&flagInitial != 0, Missed: flags&flagMissed != 0,
		}
	case beginTag:
		n, at := r.moment()
		controller, request := r.text(), r.text()
		if flat && !r.failed {
			return nil, errLeftOut
		}
		e = Begin{N: n, At: at, Controller: controller, Request: request}
	case callTag:
		e = r.call()
	case doneTag:
		n, at := r.moment()
		reconcile := r.owner()
		if flat && !r.failed {
			return nil, errLeftOut
		}
		e = Done{N: n, At: at, Reconcile: reconcile}
	default:
		payload := r.octets()
		if r.failed {
			return nil, errIndex
		}
		return decode(kind, payload)
	}
	if r.failed {
		return nil, errIndex
	}
	return e, nil
}

func (r *indexReader) call() Call {
	flags := r.octet()
	var e Call
	e.N, e.At = r.moment()
	e.Took = time.Duration(r.signed())
	e.Reconcile, e.Client, e.Verb, e.Object, e.Subresource = r.owner(), r.text(), r.text(), r.key(), r.text()
	e.Base, e.ListVersion = r.version(), r.version()
	e.Cached = flags&flagCached != 0
	if flags&flagDryRun != 0 {
		e.Write = &Write{DryRun: true}
	}
	if flags&flagFailed != 0 {
		e.Failed = &Failure{Code: int(r.signed())}
	}
	e.Answer = r.answer()
	return e
}

// answer reads the numbers of the objects of an answer.
func (r *indexReader) answer() []int {
	count := r.unsigned()
	if count > uint64(len(r.rows)) { // each takes a byte at least
		r.failed = true
		return nil
	}
	if count == 0 {
		return nil
	}
	if count > uint64(len(r.numbers)) {
		r.numbers = make([]int, max(answerRoom, count))
	}
	numbers := r.numbers[:count:count]
	r.numbers = r.numbers[count:]
	for i := range numbers {
		numbers[i] = r.reference()
	}
	return numbers
}

func (r *indexReader) octet() byte {
	if len(r.rows) == 0 {
		r.failed = true
		return 0
	}
	b := r.rows[0]
	r.rows = r.rows[1:]
	return b
}

func (r *indexReader) unsigned() uint64 {
	n, size := binary.Uvarint(r.rows)
	if size <= 0 {
		r.failed, r.rows = true, nil
		return 0
	}
	r.rows = r.rows[size:]
	return n
}

func (r *indexReader) signed() int64 {
	n, size := binary.Varint(r.rows)
	if size <= 0 {
		r.failed, r.rows = true, nil
		return 0
	}
	r.rows = r.rows[size:]
	return n
}

func (r *indexReader) octets() []byte {
	size := r.unsigned()
	if size > uint64(len(r.rows)) {
		r.failed, r.rows = true, nil
		return nil
	}
	b := r.rows[:size]
	r.rows = r.rows[size:]
	return b
}

func (r *indexReader) moment() (uint64, time.Duration) {
	r.state.n += uint64(r.signed())
	r.state.at += time.Duration(r.signed())
	return r.state.n, r.state.at
}

func (r *indexReader) owner() uint64 {
	back := r.unsigned()
	if back == 0 {
		return 0
	}
	return r.state.n - (back - 1)
}

func (r *indexReader) reference() int { return r.objects - int(r.signed()) }

func (r *indexReader) text() string {
	number := r.unsigned()
	switch {
	case number == 0:
		s := string(r.octets())
		r.texts = append(r.texts, s)
		return s
	case number > uint64(len(r.texts)):
		r.failed = true
		return ""
	}
	return r.texts[number-1]
}

func (r *indexReader) key() core.Key {
	number := r.keyNumber()
	if r.failed {
		return core.Key{}
	}
	return *r.keys[number]
}

// keyNumber reads a key, and returns its place among the keys.
func (r *indexReader) keyNumber() int {
	number := r.unsigned()
	switch {
	case number == 0:
		k := core.Key{Kind: core.Kind(r.text()), Namespace: r.text(), Name: r.text()}
		r.keys = append(r.keys, &k)
		return len(r.keys) - 1
	case number > uint64(len(r.keys)):
		r.failed = true
		return 0
	}
	return int(number - 1)
}

func (r *indexReader) version() string {
	v := r.revision()
	if v.Text == "" && v.Order > 0 {
		return strconv.FormatUint(v.Order, 10)
	}
	return v.Text
}

// revision reads a resource version.
func (r *indexReader) revision() RowRevision {
	switch kind := r.unsigned(); kind {
	case noVersion:
		return RowRevision{}
	case textVersion:
		return RowRevision{Text: r.text()}
	default:
		difference := kind - numericVersion
		r.state.rv += uint64(int64(difference>>1) ^ -int64(difference&1))
		if r.state.rv == 0 {
			return RowRevision{Text: "0"}
		}
		return RowRevision{Order: r.state.rv}
	}
}
