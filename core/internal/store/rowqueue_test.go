package store

import (
	"bytes"
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
)

// TestRowQueueKeepsWhatIsNotDropped adds rows and drops some, and looks at all of them.
func TestRowQueueKeepsWhatIsNotDropped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q rowQueue
		var rows [][]byte
		dropped := 0
		for range rapid.IntRange(1, 20).Draw(t, "turns") {
			length := rapid.OneOf(rapid.IntRange(0, 200), rapid.IntRange(maxEncoded-2, maxEncoded)).Draw(t, "length")
			for range rapid.IntRange(0, 30).Draw(t, "rows") {
				row := binary.LittleEndian.AppendUint32(make([]byte, 0, maxEncoded), uint32(len(rows)))
				row = append(row, make([]byte, maxEncoded-len(row))...)[:length]
				rows = append(rows, row)
				q.add(row)
			}
			dropped = rapid.IntRange(dropped, len(rows)).Draw(t, "dropped")
			q.drop(core.StateID(dropped))
			for id, want := range rows {
				got := q.row(core.StateID(id))
				switch {
				case id < dropped && got != nil:
					t.Fatalf("row %d is there, though it was dropped", id)
				case id >= dropped && (got == nil || !bytes.Equal(got, want)):
					t.Fatalf("row %d is not what was added", id)
				}
			}
		}
		if q.drop(core.StateID(len(rows))); len(q.blocks) > 0 {
			t.Fatalf("%d blocks stay for no rows", len(q.blocks))
		}
	})
}

// TestRowQueueGivesBack has blocks be given back whose rows are all dropped, and be used for others.
func TestRowQueueGivesBack(t *testing.T) {
	var q rowQueue
	row := make([]byte, 1<<10)
	for range 10 * blockBytes / len(row) {
		q.add(row)
	}
	all := len(q.blocks)
	if all < 10 {
		t.Fatalf("there are %d blocks", all)
	}
	first := q.blocks[0]
	if q.drop(q.blocks[1].first - 1); len(q.blocks) != all {
		t.Errorf("with a row left in it, a block is given back: %d of %d are left", len(q.blocks), all)
	}
	if q.drop(q.blocks[1].first); len(q.blocks) != all-1 || q.spare != first {
		t.Errorf("without a row in it, a block stays: %d of %d are left", len(q.blocks), all)
	}
	if q.drop(q.len - 1); len(q.blocks) != 1 || q.row(q.len-1) == nil {
		t.Errorf("for one row there are %d blocks", len(q.blocks))
	}
}
