package analysis_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/record/internal/block"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

// inParts returns a generated recording in files, as they are in memory.
func inParts(t testing.TB, fileSize, reconciles int) [][]byte {
	t.Helper()
	var parts []*buffer
	err := generated(func(int) (io.WriteCloser, error) {
		parts = append(parts, &buffer{})
		return parts[len(parts)-1], nil
	}, fileSize, reconciles)
	if err != nil {
		t.Fatal(err)
	}
	var files [][]byte
	for _, part := range parts {
		files = append(files, part.Bytes())
	}
	return files
}

type buffer struct{ bytes.Buffer }

func (*buffer) Close() error { return nil }

// withoutIndexes returns the same recording as a writer without indexes would have made it.
func withoutIndexes(t testing.TB, file []byte) []byte {
	t.Helper()
	in := bufio.NewReader(bytes.NewReader(file))
	line, _, err := block.Line(in, 100)
	if err != nil {
		t.Fatal(err)
	}
	r, err := block.NewReader(in, 16<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out bytes.Buffer
	w, err := block.NewWriter(&out, line, 16<<20)
	if err != nil {
		t.Fatal(err)
	}
	for {
		plain, _, aside, err := r.NextOrAside()
		if errors.Is(err, io.EOF) || errors.Is(err, block.ErrTruncated) {
			return out.Bytes()
		}
		if err == nil && !aside {
			err = w.Write(plain)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// counting are sources that can seek, and count what is read of them.
func counting(files [][]byte, count *int) []analysis.Source {
	var all []analysis.Source
	for i, file := range files {
		all = append(all, analysis.Source{Name: fmt.Sprintf("%d.ort", i+1), Open: func() (io.ReadCloser, error) {
			return &counter{bytes.NewReader(file), count}, nil
		}})
	}
	return all
}

type counter struct {
	in    *bytes.Reader
	bytes *int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	*c.bytes += n
	return n, err
}

func (c *counter) Seek(offset int64, whence int) (int64, error) { return c.in.Seek(offset, whence) }

func (*counter) Close() error { return nil }

// ask returns the answers to the questions that are asked of outlines.
func ask(t testing.TB, files []analysis.Source, object, field string) string {
	t.Helper()
	var out strings.Builder
	told := func(notes analysis.Notes, err error) {
		if err != nil {
			t.Fatal(err)
		}
		notes.Text(&out)
	}
	for _, question := range []string{object, object + "." + field} {
		answer, notes, err := analysis.Why(files, question)
		if err != nil {
			t.Fatal(err)
		}
		answer.Text(&out)
		told(notes, nil)
	}
	for _, filter := range []analysis.Filter{{Object: object}, {Controller: "shrink"}, {Controller: "controller-1", Object: object}} {
		told(analysis.Show(files, filter, func(s analysis.Shown) error { s.Text(&out); return nil }))
	}
	told(analysis.Stale(files, func(s analysis.StaleRead) error { s.Text(&out); return nil }))
	return out.String()
}

// TestOutlinesAnswerTheSame holds the answers of outlines against those of recordings without an index, which are read
// as a whole; and against a recording that was cut off.
func TestOutlinesAnswerTheSame(t *testing.T) {
	files := inParts(t, 20_000, 3000)
	if len(files) < 3 {
		t.Fatalf("%d files are too few", len(files))
	}
	last := len(files) - 1
	cut := append(append([][]byte{}, files[:last]...), files[last][:len(files[last])/2])
	for name, test := range map[string]struct {
		files         [][]byte
		object, field string
	}{
		"tale":      {[][]byte{tale(t).ended()}, "ConfigMap/default/web", "data.n"},
		"secret":    {[][]byte{tale(t).ended()}, "Secret/default/s", "data.n"},
		"generated": {files, "widget/team-7/widget-7", "spec.size"},
		"cut off":   {cut, "widget/team-23/widget-23", "status.ready"},
	} {
		var plain [][]byte
		for _, file := range test.files {
			plain = append(plain, withoutIndexes(t, file))
		}
		read := 0
		want := ask(t, counting(plain, &read), test.object, test.field)
		if got := ask(t, counting(test.files, &read), test.object, test.field); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
		if len(want) < 500 {
			t.Errorf("%s: hardly an answer:\n%s", name, want)
		}
	}
}

// TestOutlinesReadLittle counts what is read of a recording until the first answer is there: the indexes, and a few
// blocks.
func TestOutlinesReadLittle(t *testing.T) {
	files := inParts(t, 1<<30, 30_000)
	enough := errors.New("enough")
	object := "widget/team-7/widget-247"
	for name, test := range map[string]struct {
		ask  func([]analysis.Source) error
		most int // of a hundred bytes
	}{
		"why": {func(files []analysis.Source) error {
			_, _, err := analysis.Why(files, object+".spec.size")
			return err
		}, 25},
		"show": {func(files []analysis.Source) error {
			_, err := analysis.Show(files, analysis.Filter{Object: object}, func(analysis.Shown) error { return enough })
			return err
		}, 25},
		"stale": {func(files []analysis.Source) error {
			_, err := analysis.Stale(files, func(analysis.StaleRead) error { return enough })
			return err
		}, 25},
	} {
		read, all := 0, len(files[0])
		if err := test.ask(counting(files, &read)); err != nil && !errors.Is(err, enough) {
			t.Fatal(err)
		}
		if read*100 > all*test.most {
			t.Errorf("%s reads %d bytes of %d", name, read, all)
		}
		plain := 0
		if err := test.ask(counting([][]byte{withoutIndexes(t, files[0])}, &plain)); err != nil && !errors.Is(err, enough) {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes of %d, and %d without indexes", name, read, all, plain)
	}
}
