package foreign_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/orrery-dev/orrery/record/live/foreign"
)

// post sends something to a receiver, and returns the status and what the answer says.
func post(t *testing.T, url, media string, body io.Reader) (code int, says string) {
	t.Helper()
	response, err := http.Post(url, media, body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// batch is what an API server sends.
func batch(lines ...line) io.Reader {
	var items []string
	for _, l := range lines {
		items = append(items, l.String())
	}
	return strings.NewReader(`{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[` + strings.Join(items, ",") + `]}`)
}

// TestReceiver receives batches of several API servers at once, a batch twice, and whatever else somebody sends.
func TestReceiver(t *testing.T) {
	var out bytes.Buffer
	receiver, err := foreign.NewReceiver(&out, foreign.Options{Name: "web"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(receiver)
	defer server.Close()

	const senders, batches = 4, 5
	var sending sync.WaitGroup
	for sender := range senders {
		sending.Go(func() {
			for i := range batches {
				get := line{at: float64(i), id: fmt.Sprint(sender, i), verb: "get", ref: fmt.Sprintf("/configmaps/web/a%d", sender), response: configMap(i, "", "")}
				refused := line{at: float64(i), id: fmt.Sprint(sender, i, "b"), verb: "update", code: 409, ref: "/configmaps/web/a"}
				for range 2 { // the answer was lost
					if code, says := post(t, server.URL, "application/json; charset=utf-8", batch(get, refused)); code != http.StatusOK {
						t.Errorf("a batch is answered with %d: %s", code, says)
					}
				}
			}
		})
	}
	sending.Wait()
	if got := receiver.Events(); got != 4*senders*batches {
		t.Errorf("%d events were received, want %d", got, 4*senders*batches)
	}

	tests := map[string]struct {
		media string
		body  io.Reader
		code  int
		says  string
	}{
		"no JSON":        {"application/json", strings.NewReader(`{`), http.StatusBadRequest, "--audit-webhook-version"},
		"another list":   {"application/json", strings.NewReader(`{"kind":"PodList","apiVersion":"v1","items":[]}`), http.StatusBadRequest, "--audit-webhook-version"},
		"an old version": {"application/json", strings.NewReader(`{"kind":"EventList","apiVersion":"audit.k8s.io/v1beta1","items":[]}`), http.StatusBadRequest, "--audit-webhook-version"},
		"nothing":        {"application/json", strings.NewReader(``), http.StatusBadRequest, "--audit-webhook-version"},
		"a page's form":  {"text/plain", batch(line{verb: "get", ref: "/configmaps/web/a"}), http.StatusUnsupportedMediaType, "application/json"},
		"no media type":  {"", batch(line{verb: "get", ref: "/configmaps/web/a"}), http.StatusUnsupportedMediaType, "application/json"},
		"too large":      {"application/json", io.LimitReader(spaces{}, 65<<20), http.StatusRequestEntityTooLarge, "--audit-webhook-batch-max-size"},
	}
	for name, test := range tests {
		if code, says := post(t, server.URL, test.media, test.body); code != test.code || !strings.Contains(says, test.says) {
			t.Errorf("%s is answered with %d: %s", name, code, says)
		}
	}
	response, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a GET is answered with %s", response.Status)
	}

	for range 2 {
		if err := receiver.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if code, says := post(t, server.URL, "application/json", batch(line{verb: "get", ref: "/configmaps/web/a"})); code != http.StatusInsufficientStorage || !strings.Contains(says, "the recording has ended") {
		t.Errorf("after the end, a batch is answered with %d: %s", code, says)
	}
	got := read(t, out.Bytes())
	if len(got.calls) != 2*senders*batches {
		t.Errorf("%d calls are recorded, want %d", len(got.calls), 2*senders*batches)
	}
	if want := fmt.Sprintf("%d events were there more than once, and are recorded once", 2*senders*batches); got.unseen[len(got.unseen)-1] != want {
		t.Errorf("unseen is %q, want %q at last", got.unseen, want)
	}
}

// spaces never end.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) { return copy(p, bytes.Repeat([]byte(" "), len(p))), nil }

// TestReceiverKeepsWhatItHas can be read up to the last batch that was answered, at any time.
func TestReceiverKeepsWhatItHas(t *testing.T) {
	out := &full{room: 1 << 20}
	receiver, err := foreign.NewReceiver(out, foreign.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(receiver)
	defer server.Close()
	before := out.room
	get := line{at: 1, verb: "get", ref: "/configmaps/web/a", response: configMap(1, "", "")}
	if code, _ := post(t, server.URL, "application/json", batch(get)); code != http.StatusOK || out.room == before {
		t.Errorf("a batch is answered with %d, and %d bytes are written", code, before-out.room)
	}
	out.room = 10
	for i := range 2 {
		get.at++
		if code, says := post(t, server.URL, "application/json", batch(get)); code != http.StatusInsufficientStorage || !strings.Contains(says, errFull.Error()) {
			t.Errorf("batch %d on a full disk is answered with %d: %s", i, code, says)
		}
	}
	if err := receiver.Close(); err == nil {
		t.Error("the end says nothing of the full disk")
	}
}
