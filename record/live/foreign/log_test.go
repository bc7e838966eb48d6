package foreign_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/foreign"
)

var began = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// line is an event of an audit log, as an API server writes it: of the request that is answered so many seconds after
// the beginning, and took ten milliseconds.
type line struct {
	at       float64
	id       string
	level    string // RequestResponse if empty
	stage    string // ResponseComplete if empty
	verb     string
	uri      string
	ref      string // group/resource/namespace/name/subresource
	user     string
	code     int // 200 if 0
	reason   string
	message  string
	request  string
	response string
}

func (l line) String() string {
	staged := began.Add(time.Duration(l.at * float64(time.Second)))
	or := func(a, b string) string {
		if a == "" {
			return b
		}
		return a
	}
	event := map[string]any{
		"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": or(l.level, "RequestResponse"), "auditID": or(l.id, fmt.Sprint("id-", l.at)), "stage": or(l.stage, "ResponseComplete"),
		"requestURI": or(l.uri, "/"), "verb": l.verb, "user": map[string]any{"username": or(l.user, "system:serviceaccount:web:widgets"), "groups": []string{"system:authenticated"}},
		"sourceIPs": []string{"10.0.0.7"}, "userAgent": "widgets/v1.2 (linux/amd64) kubernetes/$Format",
		"requestReceivedTimestamp": staged.Add(-10 * time.Millisecond).Format("2006-01-02T15:04:05.000000Z07:00"), "stageTimestamp": staged.Format("2006-01-02T15:04:05.000000Z07:00"),
		"annotations": map[string]any{"authorization.k8s.io/decision": "allow"},
	}
	if l.code == 0 {
		l.code = 200
	}
	event["responseStatus"] = map[string]any{"metadata": map[string]any{}, "code": l.code, "reason": l.reason, "message": l.message}
	if l.ref != "" {
		parts := strings.Split(l.ref, "/")
		ref := map[string]any{"apiVersion": "v1"}
		for i, name := range []string{"apiGroup", "resource", "namespace", "name", "subresource"} {
			if i < len(parts) && parts[i] != "" {
				ref[name] = parts[i]
			}
		}
		event["objectRef"] = ref
	}
	if l.request != "" {
		event["requestObject"] = json.RawMessage(l.request)
	}
	if l.response != "" {
		event["responseObject"] = json.RawMessage(l.response)
	}
	text, err := json.Marshal(event)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// logOf returns an audit log.
func logOf(lines ...fmt.Stringer) []byte {
	var out bytes.Buffer
	for _, l := range lines {
		fmt.Fprintln(&out, l)
	}
	return out.Bytes()
}

type text string

func (t text) String() string { return string(t) }

func fileOf(name string, content []byte) foreign.File {
	return foreign.File{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }}
}

func zipped(content []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(content)
	_ = w.Close()
	return out.Bytes()
}

// failer is a test, or a drawn one.
type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// recording is what a recording says.
type recording struct {
	header  live.Header
	objects []live.Object
	calls   []live.Call
	events  []live.Event
	gaps    []live.Gap
	unseen  []string
	end     time.Duration
}

// read reads a recording, which must be whole.
func read(t failer, file []byte) recording {
	t.Helper()
	r, err := live.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got := recording{header: r.Header()}
	for {
		entry, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := entry.(type) {
		case live.Object:
			got.objects = append(got.objects, e)
		case live.Call:
			got.calls = append(got.calls, e)
		case live.Event:
			got.events = append(got.events, e)
		case live.Gap:
			got.gaps = append(got.gaps, e)
		case live.Unseen:
			got.unseen = append(got.unseen, e.Reason)
		case live.End:
			got.end = e.At
		default:
			t.Fatalf("a recording of others has a %T", entry)
		}
	}
	if !r.Complete() {
		t.Fatal("the recording has no end")
	}
	return got
}

// audited imports a log.
func audited(t failer, files ...foreign.File) recording {
	t.Helper()
	var out bytes.Buffer
	if err := foreign.Audit(files, &out, foreign.Options{Name: "web"}); err != nil {
		t.Fatal(err)
	}
	return read(t, out.Bytes())
}

func imported(t failer, lines ...fmt.Stringer) recording {
	t.Helper()
	return audited(t, fileOf("audit.log", logOf(lines...)))
}

// configMap returns a ConfigMap as JSON.
func configMap(rv int, metadata, data string) string {
	if metadata != "" {
		metadata = "," + metadata
	}
	return fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"web","uid":"u","resourceVersion":"%d"%s},"data":{"n":"%s"}}`, rv, metadata, data)
}
