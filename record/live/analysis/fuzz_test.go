package analysis_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/orrery-dev/orrery/record/internal/block"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

// FuzzQuestions asks everything about entries that no recorder writes.
func FuzzQuestions(f *testing.F) {
	const start = "\x01\x02{}"
	f.Add([]byte(start), "a")
	for _, question := range []string{"ConfigMap/default/web.data.n", "Secret/default/s"} {
		plain := []byte(start)
		r, err := live.NewReader(bytes.NewReader(tale(f).ended()))
		if err != nil {
			f.Fatal(err)
		}
		for {
			entry, err := r.Next()
			if err != nil {
				break
			}
			tags := map[string]byte{"live.Object": 2, "live.Event": 3, "live.Queued": 4, "live.Begin": 5, "live.Call": 6, "live.Done": 7, "live.End": 10}
			text, err := json.Marshal(entry)
			if err != nil {
				f.Fatal(err)
			}
			plain = append(plain, tags[fmt.Sprintf("%T", entry)])
			plain = append(binary.AppendUvarint(plain, uint64(len(text))), text...)
		}
		f.Add(plain, question)
	}
	f.Fuzz(func(t *testing.T, plain []byte, question string) {
		if len(plain) == 0 {
			return
		}
		var file bytes.Buffer
		blocks, err := block.NewWriter(&file, "orrery-recording 1", 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if err := blocks.Write(plain); err != nil {
			t.Fatal(err)
		}
		files := []analysis.Source{inMemory("fuzz.ort", file.Bytes())}
		_, _ = analysis.Show(files, analysis.Filter{Object: question}, func(s analysis.Shown) error { s.Text(io.Discard); return nil })
		_, _ = analysis.Stale(files, func(s analysis.StaleRead) error { s.Text(io.Discard); return nil })
		_, _, _ = analysis.Fights(files, 1)
		_, _, _ = analysis.Idle(files)
		_, _, _ = analysis.Slow(files, 3)
		if answer, _, err := analysis.Why(files, question); err == nil {
			answer.Text(io.Discard)
		}
	})
}
