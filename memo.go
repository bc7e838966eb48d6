package orrery

import (
	"runtime"
	"sync"
	"weak"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
)

// memos are what checks found out about the code of controllers, by the *core.System that was checked: so a second check of a system, under
// other options, learns only what is new. They are forgotten with the system.
var memos sync.Map

// memoOf returns what was found out about the code of a system's controllers.
func memoOf(system *core.System) *explore.Memo {
	key := weak.Make(system)
	memo, known := memos.LoadOrStore(key, explore.NewMemo())
	if !known {
		runtime.AddCleanup(system, func(key weak.Pointer[core.System]) { memos.Delete(key) }, key)
	}
	return memo.(*explore.Memo)
}
