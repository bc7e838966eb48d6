package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// TestUnsoundEntries writes records with sound checksums whose entries do not fit
// together: only the reader's own checks can refuse them.
func TestUnsoundEntries(t *testing.T) {
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
		if _, err := Read(bytes.NewReader(assemble(t, []Entry{header, report, extent, end}))); err != nil {
			t.Error(err)
		}
	})
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
			blocks, err := newBlockWriter(&out)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(blocks.add(test.tag, test.payload), blocks.flush()); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(&out); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
	t.Run("entry longer than its block", func(t *testing.T) {
		var out bytes.Buffer
		blocks, err := newBlockWriter(&out)
		if err != nil {
			t.Fatal(err)
		}
		blocks.plain.Write([]byte{byte(headerTag), 200})
		if err := blocks.flush(); err != nil {
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
	blocks, err := newBlockWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{blocks: blocks}
	for _, entry := range entries {
		r.add(entry)
	}
	if err := errors.Join(r.err, blocks.flush()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// FuzzEntries gets past the checksums, which random bytes never do.
func FuzzEntries(f *testing.F) {
	f.Add([]byte("\x01\x02{}\x02\x02{}\x05\x02{}\x08\x02{}"))
	f.Add([]byte("\x01\x02{}\x02\x16{\"findings\":[{\"id\":1}]}\x03\x08{\"id\":1}\x05\x02{}\x08\x0e{\"findings\":1}"))
	f.Fuzz(func(t *testing.T, plain []byte) {
		var file bytes.Buffer
		blocks, err := newBlockWriter(&file)
		if err != nil {
			t.Fatal(err)
		}
		blocks.plain.Write(plain)
		if err := blocks.flush(); err != nil {
			t.Fatal(err)
		}
		record, err := Read(&file)
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := record.WriteJSON(&out); err != nil || !json.Valid(out.Bytes()) {
			t.Errorf("a record that can be read is written as %s: %v", out.Bytes(), err)
		}
	})
}
