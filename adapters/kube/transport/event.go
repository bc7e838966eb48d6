package transport

import (
	"net/http"
	"runtime"
	"strings"
)

// Events that controllers record are for people to read: nothing that is checked depends on them, and they come when
// somebody has the time. They are lost.

// RecordsEvent reports whether a request writes an event.
func RecordsEvent(sent *http.Request) bool {
	return sent.Method != http.MethodGet && sent.Method != http.MethodDelete && aboutEvents(sent.URL.Path)
}

// Drop answers a request that writes an event as if it were done.
func Drop(sent *http.Request) (*http.Response, error) {
	body, err := drain(sent)
	if err != nil {
		return nil, err
	}
	if sent.Method != http.MethodPost {
		return reply(sent, http.StatusOK, []byte(`{"kind":"Event","apiVersion":"v1"}`)), nil
	}
	return reply(sent, http.StatusCreated, body), nil
}

// aboutEvents reports whether a path is that of events.
func aboutEvents(path string) bool {
	rest, ok := strings.CutPrefix(path, "/api/v1/")
	if !ok {
		if rest, ok = strings.CutPrefix(path, "/apis/events.k8s.io/"); ok {
			_, rest, ok = strings.Cut(rest, "/")
		}
	}
	parts := strings.Split(rest, "/")
	const namespaced = 3 // namespaces, the name of one, and what is in it
	if ok && len(parts) >= namespaced && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	return ok && parts[0] == "events"
}

// broadcast reports whether a broadcaster of events of client-go is asking, and not code that makes an event as any
// other object.
func broadcast() bool {
	var callers [64]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers[:])])
	for {
		frame, more := frames.Next()
		for _, recorder := range []string{"k8s.io/client-go/tools/record.", "k8s.io/client-go/tools/events."} {
			if strings.HasPrefix(frame.Function, recorder) {
				return true
			}
		}
		if !more {
			return false
		}
	}
}
