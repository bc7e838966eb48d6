package explore

import (
	"bytes"
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
)

// TestTrainKeepsWhatIsNotDropped adds rows and drops some, and looks at all of them.
func TestTrainKeepsWhatIsNotDropped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tr train
		var rows [][]byte
		dropped := 0
		for range rapid.IntRange(1, 20).Draw(t, "turns") {
			length := rapid.OneOf(rapid.IntRange(0, 200), rapid.IntRange(maxRow-2, maxRow)).Draw(t, "length")
			for range rapid.IntRange(0, 30).Draw(t, "rows") {
				row := binary.LittleEndian.AppendUint32(make([]byte, 0, maxRow), uint32(len(rows)))
				row = append(row, make([]byte, maxRow-len(row))...)[:length]
				rows = append(rows, row)
				tr.add(row)
			}
			dropped = rapid.IntRange(dropped, len(rows)).Draw(t, "dropped")
			tr.drop(core.StateID(dropped))
			for id, want := range rows {
				got := tr.row(core.StateID(id))
				switch {
				case id < dropped && got != nil:
					t.Fatalf("row %d is there, though it was dropped", id)
				case id >= dropped && (got == nil || !bytes.Equal(got, want)):
					t.Fatalf("row %d is not what was added", id)
				}
			}
		}
		if tr.drop(core.StateID(len(rows))); len(tr.cars) > 0 {
			t.Fatalf("%d cars stay for no rows", len(tr.cars))
		}
	})
}
