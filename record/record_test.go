package record_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record"
)

var update = flag.Bool("update", false, "write the golden files anew")

var header = record.Header{
	System:  "test/light",
	Params:  map[string]string{"lamps": "1"},
	Options: map[string][]string{"search": {"dfs"}, "property": {"dark", "same outcome"}},
}

func written(t testing.TB, limit int) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := record.Write(t.Context(), &out, header, lightReport(), newLight(), limit); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestRoundTrip(t *testing.T) {
	got, err := record.Read(bytes.NewReader(written(t, 10)))
	if err != nil {
		t.Fatal(err)
	}
	if want := asJSON(header); asJSON(got.Header) != want {
		t.Errorf("header:\n%s\nwant:\n%s", asJSON(got.Header), want)
	}
	want := lightReport()
	if asJSON(got.Report) != asJSON(want) {
		t.Errorf("report:\n%s\nwant:\n%s", asJSON(got.Report), asJSON(want))
	}
	if got.Report.Elapsed != 7*time.Millisecond {
		t.Errorf("elapsed: %v, want 7ms", got.Report.Elapsed)
	}
	for name, pair := range map[string][2]any{
		"trace":    {got.Report.Findings[0].Trace, want.Findings[0].Trace},
		"other":    {got.Report.Findings[0].Other, want.Findings[0].Other},
		"outcomes": {got.Report.OutcomeList, want.OutcomeList},
	} {
		if asJSON(pair[0]) != asJSON(pair[1]) {
			t.Errorf("%s:\n%s\nwant:\n%s", name, asJSON(pair[0]), asJSON(pair[1]))
		}
	}
}

func TestGraph(t *testing.T) {
	got, err := record.Read(bytes.NewReader(written(t, 10)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := got.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	golden(t, "light.json", out.Bytes())
}

// TestStepsOfEveryKind checks that what goes wrong in a step is recorded, whatever kind it is of.
func TestStepsOfEveryKind(t *testing.T) {
	graph := newLight()
	graph.edges = make([][]core.Edge, 3)
	report := lightReport()
	story := &report.Findings[0].Trace.Steps
	var want []record.Step
	for kind := core.Reconcile; kind <= core.Intervene; kind++ {
		for _, late := range []bool{false, true} {
			step := core.Step{Kind: kind, Item: core.Item{Strategy: "alice", Request: "lamp"}, Detail: fmt.Sprintf("call %d fails", kind)}
			graph.edges[0] = append(graph.edges[0], core.Edge{To: 2, Step: step, Late: late})
			want = append(want, record.Step{
				Kind: kind.Name(), Item: record.Item{Controller: "alice", Request: "lamp"}, Detail: step.Detail, To: 2, Late: late,
			})
			*story = append(*story, core.TraceStep{Kind: kind.Name(), Controller: "alice", Request: "lamp", Detail: step.Detail, Late: late})
		}
	}
	report.Stale, report.Crashes, report.Failures, report.Doubles = []string{"all=relist"}, 1, 2, []string{"alice"}
	var out bytes.Buffer
	if _, err := record.Write(t.Context(), &out, header, report, graph, 10); err != nil {
		t.Fatal(err)
	}
	got, err := record.Read(&out)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.States.At(0).Steps, want) {
		t.Errorf("steps:\n%+v\nwant:\n%+v", got.States.At(0).Steps, want)
	}
	if told := got.Report.Findings[0].Trace; asJSON(told) != asJSON(report.Findings[0].Trace) {
		t.Errorf("story:\n%s\nwant:\n%s", asJSON(told), asJSON(report.Findings[0].Trace))
	}
	if asJSON(got.Report) != asJSON(report) {
		t.Errorf("report:\n%s\nwant:\n%s", asJSON(got.Report), asJSON(report))
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs:\n%s\nwant:\n%s", path, got, want)
	}
}

// TestInterrupted records until the context ends: what is recorded until then can be read, and says so.
func TestInterrupted(t *testing.T) {
	for limit := range 4 {
		ctx, cancel := context.WithCancel(t.Context())
		graph := &interrupting{light: newLight(), after: limit, interrupt: cancel}
		var out bytes.Buffer
		extent, err := record.Write(ctx, &out, header, lightReport(), graph, 10)
		if err != nil {
			t.Fatal(err)
		}
		got, err := record.Read(&out)
		if err != nil {
			t.Fatal(err)
		}
		want := record.Extent{States: 3, Recorded: limit}
		if limit < 3 {
			want.Interrupted = true
			want.Note = fmt.Sprintf("only the first %d of 3 states are recorded, because recording was interrupted", limit)
		}
		if extent != want || got.Extent != want || got.States.Len() != limit {
			t.Errorf("%d states, recorded %+v, and %+v was returned; want %+v", got.States.Len(), got.Extent, extent, want)
		}
		if asJSON(got.Report) != asJSON(lightReport()) {
			t.Error("the report is not whole")
		}
	}
}

// interrupting is a light that ends a context when so many states were listed.
type interrupting struct {
	*light
	after     int
	interrupt func()
}

func (i *interrupting) List(ctx context.Context, n int, show func(*core.Listed) error) error {
	if i.after == 0 {
		i.interrupt()
	}
	return i.light.List(ctx, n, func(listed *core.Listed) error {
		err := show(listed)
		if int(listed.ID)+1 == i.after {
			i.interrupt()
		}
		return err
	})
}

// TestFirstVersion reads a file that is never written anew: what the first
// version wrote stays readable.
func TestFirstVersion(t *testing.T) {
	got, err := record.ReadFile("testdata/v1.orr")
	if err != nil {
		t.Fatal(err)
	}
	want, err := record.Read(bytes.NewReader(written(t, 10)))
	if err != nil {
		t.Fatal(err)
	}
	if asJSON(got) != asJSON(want) {
		t.Errorf("got:\n%s\nwant:\n%s", asJSON(got), asJSON(want))
	}
}

func TestLimit(t *testing.T) {
	got, err := record.Read(bytes.NewReader(written(t, 2)))
	if err != nil {
		t.Fatal(err)
	}
	want := record.Extent{States: 3, Recorded: 2, Note: "only the first 2 of 3 states are recorded"}
	if got.Extent != want || got.States.Len() != 2 {
		t.Errorf("got %+v with %d states, want %+v", got.Extent, got.States.Len(), want)
	}
}

func TestWithoutGraph(t *testing.T) {
	var out bytes.Buffer
	if _, err := record.Write(t.Context(), &out, header, lightReport(), nil, 10); err != nil {
		t.Fatal(err)
	}
	got, err := record.Read(&out)
	if err != nil {
		t.Fatal(err)
	}
	if got.Extent != (record.Extent{}) || got.States.Len() != 0 {
		t.Errorf("got %+v with %d states, want none", got.Extent, got.States.Len())
	}
}

func TestSameBytes(t *testing.T) {
	if !bytes.Equal(written(t, 10), written(t, 10)) {
		t.Error("two records of one result differ")
	}
}

// TestTruncated cuts a record at every byte.
func TestTruncated(t *testing.T) {
	whole := written(t, 10)
	start := bytes.IndexByte(whole, '\n') + 1
	for size := range whole {
		_, err := record.Read(bytes.NewReader(whole[:size]))
		if size < start {
			if !errors.Is(err, record.ErrNotRecord) {
				t.Errorf("%d of %d bytes: error %v, want %v", size, len(whole), err, record.ErrNotRecord)
			}
			continue
		}
		var corrupt *record.CorruptError
		if !errors.As(err, &corrupt) || corrupt.Offset > int64(size) {
			t.Errorf("%d of %d bytes: error %v, want a CorruptError within the file", size, len(whole), err)
		}
	}
}

// TestFlipped changes every byte of a record, one at a time.
func TestFlipped(t *testing.T) {
	whole := written(t, 10)
	for i := range whole {
		for _, mask := range []byte{0x01, 0x80, 0xff} {
			broken := bytes.Clone(whole)
			broken[i] ^= mask
			if _, err := record.Read(bytes.NewReader(broken)); err == nil {
				t.Errorf("byte %d changed by %#x: no error", i, mask)
			}
		}
	}
}

func TestLargeRecordNamesTheDamagedBlock(t *testing.T) {
	report := lightReport()
	for i := range 40_000 { // several blocks, even of text that compresses well
		report.Assumptions = append(report.Assumptions, fmt.Sprintf("assumption %d", i))
	}
	for range 3 {
		report.OutcomeList = append(report.OutcomeList, core.OutcomeReport{
			Objects: []core.TraceObject{{Name: strings.Repeat("x", 300<<10)}}, Trace: core.Trace{CycleStart: -1}})
	}
	var out bytes.Buffer
	if _, err := record.Write(t.Context(), &out, header, report, nil, 0); err != nil {
		t.Fatal(err)
	}
	whole := out.Bytes()
	if _, err := record.Read(bytes.NewReader(whole)); err != nil {
		t.Fatal(err)
	}
	whole[len(whole)-1] ^= 1
	_, err := record.Read(bytes.NewReader(whole))
	var corrupt *record.CorruptError
	if !errors.As(err, &corrupt) || corrupt.Offset < int64(len(whole)/2) {
		t.Errorf("error %v, want a CorruptError in the last block of %d bytes", err, len(whole))
	}
}

func TestRefused(t *testing.T) {
	whole := string(written(t, 10))
	_, body, _ := strings.Cut(whole, "\n")
	tests := []struct{ name, file, want string }{
		{"empty", "", "not a run record"},
		{"other file", "#!/bin/sh\necho hello\n", "not a run record"},
		{"long line", strings.Repeat("x", 1000), "not a run record"},
		{"newer version", "orrery-record 3\n" + body, `format version "3", but this orrery reads versions 1 to 2`},
		{"odd version", "orrery-record 01\n" + body, `format version "01"`},
		{"no blocks", "orrery-record 2\n", "damaged at byte 16: the file ends too early"},
		{"trailing bytes", whole + "x", fmt.Sprintf("damaged at byte %d: something follows the end", len(whole))},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := record.Read(strings.NewReader(test.file))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestReadError(t *testing.T) {
	broken := errors.New("the disk is on fire")
	whole := written(t, 10)
	for _, size := range []int{0, 5, 20, 40} {
		reader := io.MultiReader(bytes.NewReader(whole[:size]), failing{broken})
		if _, err := record.Read(reader); !errors.Is(err, broken) {
			t.Errorf("failing after %d bytes: error %v, want %v", size, err, broken)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestWriteError(t *testing.T) {
	broken := errors.New("the disk is full")
	if _, err := record.Write(t.Context(), failing{broken}, header, lightReport(), newLight(), 10); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

func TestFileIsWholeOrUntouched(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run.orr")
	if _, err := record.WriteFile(t.Context(), path, header, lightReport(), newLight(), 10); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	unsayable := lightReport()
	unsayable.StatesPerSecond = math.Inf(1)
	if _, err := record.WriteFile(t.Context(), path, header, unsayable, nil, 10); err == nil {
		t.Error("a report that JSON cannot say was written")
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, after) {
		t.Error("a failed write changed the file")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("the folder holds %d files, want the record alone", len(entries))
	}
}

func TestAnyFields(t *testing.T) {
	scalar := rapid.OneOf(
		rapid.Just(any(nil)), rapid.String().AsAny(), rapid.Bool().AsAny(),
		rapid.Int64().AsAny(), rapid.Float64Range(-1e9, 1e9).AsAny(),
	)
	fields := rapid.MapOf(rapid.String(), rapid.OneOf(scalar,
		rapid.SliceOf(scalar).AsAny(), rapid.MapOf(rapid.String(), scalar).AsAny()))
	rapid.Check(t, func(t *rapid.T) {
		report := lightReport()
		report.Findings[0].Trace.Initial[0].Fields = fields.Draw(t, "fields")
		var out bytes.Buffer
		if _, err := record.Write(t.Context(), &out, header, report, nil, 0); err != nil {
			t.Fatal(err)
		}
		got, err := record.Read(&out)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := asJSON(got.Report.Findings[0].Trace), asJSON(report.Findings[0].Trace); got != want {
			t.Fatalf("got:\n%s\nwant:\n%s", got, want)
		}
	})
}

func FuzzRead(f *testing.F) {
	whole := written(f, 10)
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte("orrery-record 1\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := record.Read(bytes.NewReader(file))
		if err == nil && got.Header.System == "" && len(file) < 16 {
			t.Error("a record was read from almost nothing")
		}
	})
}
