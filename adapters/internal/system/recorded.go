package system

import (
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// Recorded is that of the API server: what other parts of the world are asked is in no recording.
func (s *surrounded) Recorded(call core.Call) (live.Call, core.Response, error) {
	return s.server.Recorded(call)
}

// Answered is that of the API server.
func (s *surrounded) Answered(call core.Call, recorded live.Call, answer []live.Object) (core.Response, error) {
	return s.server.Answered(call, recorded, answer)
}

// Kept is that of the API server.
func (s *surrounded) Kept(o live.Object) (core.Content, error) { return s.server.Kept(o) }

// Takes is that of the API server.
func (s *surrounded) Takes(c live.Call) (*kube.Request, error) { return s.server.Takes(c) }
