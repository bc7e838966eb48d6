package system

import (
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// Start is that of the API server.
func (s *surrounded) Start() time.Time { return s.server.Start() }

// Keeps is that of the API server: what other parts of the world keep is in no recording.
func (s *surrounded) Keeps(kind core.Kind) bool { return s.server.Keeps(kind) }

// Stored is that of the API server.
func (s *surrounded) Stored(o live.Object, moved time.Duration, again int) (core.Content, error) {
	return s.server.Stored(o, moved, again)
}

// WithRecords is that of the API server.
func (s *surrounded) WithRecords(objects []core.Object) []core.Object {
	return s.server.WithRecords(objects)
}
