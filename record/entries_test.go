package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/internal/block"
)

func flushed(blocks *block.Writer) error {
	_, err := blocks.Flush()
	return err
}

// TestUnsoundEntriesOfFirstVersion writes records with sound checksums whose entries do not fit
// together: only the reader's own checks can refuse them.
func TestUnsoundEntriesOfFirstVersion(t *testing.T) {
	header, report, extent, end := Header{System: "s"}, Report{}, Extent{}, counts{}
	finding := Report{Findings: []core.Finding{{ID: 1}}}
	tests := []struct {
		name    string
		entries []Entry
		want    string
	}{
		{"no header", []Entry{report, extent, end}, "cannot follow"},
		{"two headers", []Entry{header, header, report, extent, end}, "cannot follow"},
		{"no extent", []Entry{header, report, end}, "cannot follow"},
		{"finding numbers", []Entry{header, Report{Findings: []core.Finding{{ID: 2}}}, extent, end}, "has the number 2"},
		{"missing story", []Entry{header, finding, extent, end}, "missing"},
		{"unknown story", []Entry{header, report, Finding{ID: 1}, extent, end}, "story of finding 1"},
		{"endless cycle", []Entry{header, finding, Finding{ID: 1, Trace: core.Trace{CycleStart: 3}}, extent, end}, "cannot repeat"},
		{"endless other cycle", []Entry{header, finding, Finding{ID: 1, Other: &core.Trace{CycleStart: -2}}, extent, end}, "cannot repeat"},
		{"too many recorded", []Entry{header, report, Extent{States: 1, Recorded: 2}, end}, "cannot be recorded"},
		{"missing states", []Entry{header, report, Extent{States: 1, Recorded: 1}, end}, "missing"},
		{"state numbers", []Entry{header, report, Extent{States: 2, Recorded: 1}, State{ID: 1}, end}, "state 1 is not expected"},
		{"unknown object", []Entry{header, report, Extent{States: 1, Recorded: 1}, State{Objects: []int{0}}, end}, "object 0"},
		{"unknown state", []Entry{header, report, Extent{States: 1, Recorded: 1}, State{Steps: []Step{{To: 1}}}, end}, "does not exist"},
		{"unknown kind of step", []Entry{header, report, Extent{States: 1, Recorded: 1}, State{Steps: []Step{{Kind: "probe"}}}, end}, `kind "probe"`},
		{"wrong counts", []Entry{header, report, extent, counts{Objects: 1}}, "should hold"},
		{"entry after the end", []Entry{header, report, extent, end, end}, "follows the last entry"},
		{"entry of another version", []Entry{header, report, extent, Item{}, end}, "cannot follow"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Read(bytes.NewReader(asFirstVersion(assemble(t, test.entries))))
			var corrupt *CorruptError
			if !errors.As(err, &corrupt) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want a CorruptError with %q", err, test.want)
			}
		})
	}
	t.Run("sound", func(t *testing.T) {
		if _, err := Read(bytes.NewReader(asFirstVersion(assemble(t, []Entry{header, report, extent, end})))); err != nil {
			t.Error(err)
		}
	})
}

// TestUnsoundEntries does so with what differs from the first version.
func TestUnsoundEntries(t *testing.T) {
	header, report := Header{System: "s"}, Report{}
	one, object := Extent{States: 1, Recorded: 1}, Object{Name: "o"}
	step, item := Step{Kind: "act"}, Item{Controller: "c"}
	tests := []struct {
		name    string
		entries []Entry
		want    string
	}{
		{"no extent", []Entry{header, report, counts{}}, "cannot follow"},
		{"two extents", []Entry{header, report, Extent{}, Extent{}, counts{}}, "cannot follow"},
		{"state behind the extent", []Entry{header, report, one, packed{0, 0, 0, 0, 0}, counts{States: 1}}, "cannot follow"},
		{"object before the report", []Entry{header, object, report, Extent{}, counts{}}, "cannot follow"},
		{"state as JSON", []Entry{header, report, State{}, one, counts{States: 1}}, "cannot follow"},
		{"missing states", []Entry{header, report, one, counts{}}, "missing"},
		{"unknown object", []Entry{header, report, object, packed{0, 1, 1, 0, 0, 0}, one, counts{}}, "object 1"},
		{"unknown item", []Entry{header, report, packed{0, 0, 1, 0, 0, 0}, one, counts{}}, "item 0"},
		{"unknown timer", []Entry{header, report, item, packed{0, 0, 0, 1, 1, 0}, one, counts{}}, "item 1"},
		{"unknown step", []Entry{header, report, packed{0, 0, 0, 0, 1, 0, 0}, one, counts{}}, "step 0"},
		{"unknown kind of step", []Entry{header, report, Step{Kind: "probe"}, one, counts{}}, `kind "probe"`},
		{"unknown state", []Entry{header, report, step, packed{0, 0, 0, 0, 1, 0, 2}, one, counts{}}, "does not exist"},
		{"state before the first", []Entry{header, report, step, packed{0, 0, 0, 0, 1, 0, 1}, one, counts{}}, "cannot be"},
		{"unknown mark", []Entry{header, report, packed{8, 0, 0, 0, 0}, one, counts{}}, "marks"},
		{"empty state", []Entry{header, report, packed{}, one, counts{}}, "marks"},
		{"endless list", []Entry{header, report, packed{0, 100}, one, counts{}}, "longer than its entry"},
		{"cut short", []Entry{header, report, packed{0, 0x80}, one, counts{}}, "cut short"},
		{"too long", []Entry{header, report, packed{0, 0, 0, 0, 0, 0}, one, counts{}}, "follows the last step"},
		{"wrong counts", []Entry{header, report, item, packed{0, 0, 0, 0, 0}, one, counts{States: 1}}, "should hold"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Read(bytes.NewReader(assemble(t, test.entries)))
			var corrupt *CorruptError
			if !errors.As(err, &corrupt) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want a CorruptError with %q", err, test.want)
			}
		})
	}
	t.Run("sound", func(t *testing.T) {
		entries := []Entry{header, report, object, item, step, packed{1, 1, 0, 1, 0, 1, 0, 1, 0, 0}, one, counts{Objects: 1, States: 1, Steps: 1, Items: 1, StepNames: 1}}
		got, err := Read(bytes.NewReader(assemble(t, entries)))
		if err != nil {
			t.Fatal(err)
		}
		want := State{Initial: true, Objects: []int{0}, Work: []Item{item}, Timers: []Item{item}, Steps: []Step{step}}
		if got.States.Len() != 1 || !reflect.DeepEqual(got.States.At(0), want) {
			t.Errorf("got %+v, want %+v", got.States.At(0), want)
		}
	})
}

// asFirstVersion returns a record with the first line of the first version.
func asFirstVersion(record []byte) []byte {
	_, blocks, _ := bytes.Cut(record, []byte("\n"))
	return append([]byte("orrery-record 1\n"), blocks...)
}

func TestUnsoundBlocks(t *testing.T) {
	sayable := func(v any) []byte {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	tests := []struct {
		name    string
		tag     tag
		payload []byte
		want    string
	}{
		{"unknown kind", 99, []byte("{}"), "no kind of entry number 99"},
		{"no JSON", headerTag, []byte("hello"), "not what it should be"},
		{"more than JSON", headerTag, append(sayable(Header{}), "{}"...), "follows an entry's JSON"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			blocks, err := newBlocks(&out)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(addTo(blocks, test.tag, test.payload), flushed(blocks)); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(&out); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
	t.Run("entry longer than its block", func(t *testing.T) {
		var out bytes.Buffer
		blocks, err := newBlocks(&out)
		if err != nil {
			t.Fatal(err)
		}
		if err := blocks.Write([]byte{byte(headerTag), 200}); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(&out); err == nil || !strings.Contains(err.Error(), "longer than its block") {
			t.Errorf("error %v, want one about the length", err)
		}
	})
}

func assemble(t *testing.T, entries []Entry) []byte {
	t.Helper()
	var out bytes.Buffer
	blocks, err := newBlocks(&out)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{blocks: blocks}
	for _, entry := range entries {
		if state, isPacked := entry.(packed); isPacked {
			r.err = errors.Join(r.err, addTo(r.blocks, packedTag, state))
		} else {
			r.add(entry)
		}
	}
	if err := errors.Join(r.err, flushed(blocks)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// FuzzEntries gets past the checksums, which random bytes never do.
func FuzzEntries(f *testing.F) {
	f.Add(true, []byte("\x01\x02{}\x02\x02{}\x05\x02{}\x08\x02{}"))
	f.Add(true, []byte("\x01\x02{}\x02\x16{\"findings\":[{\"id\":1}]}\x03\x08{\"id\":1}\x05\x02{}\x08\x0e{\"findings\":1}"))
	f.Add(false, []byte("\x01\x02{}\x02\x02{}\x09\x02{}\x0b\x06\x00\x00\x01\x00\x00\x00\x05\x1b{\"states\":1,\"recorded\":1}\x08\x02{}"))
	f.Fuzz(func(t *testing.T, first bool, plain []byte) {
		var file bytes.Buffer
		blocks, err := newBlocks(&file)
		if err != nil {
			t.Fatal(err)
		}
		if err := blocks.Write(plain); err != nil {
			t.Fatal(err)
		}
		whole := file.Bytes()
		if first {
			whole = asFirstVersion(whole)
		}
		record, err := Read(bytes.NewReader(whole))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := record.WriteJSON(&out); err != nil || !json.Valid(out.Bytes()) {
			t.Errorf("a record that can be read is written as %s: %v", out.Bytes(), err)
		}
	})
}
