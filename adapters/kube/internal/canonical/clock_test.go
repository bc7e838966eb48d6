package canonical

import (
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
)

// TestTimesAfterShorterTimes has it be known when a time was written if moments are not far from each other: what is an
// hour after the start is not now, when an hour has passed, and what is an hour after any moment counts as the same.
func TestTimesAfterShorterTimes(t *testing.T) {
	const hour = time.Hour + 11*time.Second
	c := new(Clock)
	c.Passes(hour)
	c.Passes(2 * hour)
	for written, want := range map[time.Duration]string{
		time.Second:                    "<time>",
		hour + time.Second:             "<time>",
		2*hour + time.Second:           "<time>",
		hour + 4*time.Second:           "<time>", // after some seconds of sleep
		time.Hour + time.Second:        "<time+1h>",
		hour + time.Hour + time.Second: "<time+1h>",
		2*hour + time.Hour:             "<time+1h>",
		hour - time.Hour + time.Second: "<time-1h>",
		3*hour + time.Second:           "2000-01-01T03:00:34Z", // no moment that there is
	} {
		at := storage.Now().Add(written).UTC().Format(time.RFC3339)
		if got := c.timelessText(at); got != want {
			t.Errorf("%s is %s, want %s", at, got, want)
		}
	}
}
