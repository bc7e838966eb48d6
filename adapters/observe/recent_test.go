//go:build unix

package observe

import (
	"bytes"
	"errors"
	"io"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/record/live"
)

// closed is a buffer as a file.
type closed struct{ bytes.Buffer }

// Close implements io.Closer.
func (*closed) Close() error { return nil }

// TestVersionsInTwoForms records a version once that a cache holds as the server answered it, whoever is first to see
// it; and twice if the cache holds something else.
func TestVersionsInTwoForms(t *testing.T) {
	asIs := func(*batchv1.Job) {}
	for name, test := range map[string]struct {
		transform func(*batchv1.Job)
		// early tells that the cache has the version before the answer was recorded.
		early bool
		forms []string
	}{
		"answer first":          {asIs, false, []string{live.Served}},
		"cache first":           {asIs, true, []string{live.Cached}},
		"with a kind":           {func(job *batchv1.Job) { job.Kind, job.APIVersion = "Job", "batch/v1" }, false, []string{live.Served}},
		"transformed":           {func(job *batchv1.Job) { job.ManagedFields = nil }, false, []string{live.Served, live.Cached}},
		"early and transformed": {func(job *batchv1.Job) { job.Spec.Template.Spec.Containers[0].Image = "" }, true, []string{live.Cached, live.Served}},
	} {
		t.Run(name, func(t *testing.T) {
			file := &closed{}
			r := newRecorder(Options{Open: func(int) (io.WriteCloser, error) { return file, nil }})
			server := &jobsServer{jobs: map[types.NamespacedName]*batchv1.Job{}, version: 7}
			c := observedClient{Client: server, recorder: r, reader: observedReader{server, r, scheme.Scheme, alwaysCached}}
			handler := &observedHandler{toolscache.ResourceEventHandlerFuncs{}, r, scheme.Scheme, "jobs"}
			sent := newJob("a")
			seen := func() {
				seen := server.jobs[client.ObjectKeyFromObject(sent)].DeepCopy()
				test.transform(seen)
				handler.OnAdd(seen, false)
			}
			if test.early {
				server.wrote = seen
			}
			if err := c.Update(t.Context(), sent); err != nil {
				t.Fatal(err)
			}
			if !test.early {
				seen()
			}
			sent.Spec.Template.Spec.Containers[0].Image = "changed by the controller"
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			in, err := live.NewReader(file)
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			var objects []live.Object
			answered, told := 0, 0
			for {
				entry, err := in.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				switch e := entry.(type) {
				case live.Object:
					objects = append(objects, e)
				case live.Event:
					told = e.Object
				case live.Call:
					answered = e.Answer[0]
				case live.Gap:
					t.Errorf("gap %+v", e)
				}
			}
			if len(objects) != len(test.forms) || (answered == told) != (len(test.forms) == 1) {
				t.Fatalf("%d objects, %d answered and %d told of, want forms %q", len(objects), answered, told, test.forms)
			}
			for i, o := range objects {
				if o.Form != test.forms[i] || o.ResourceVersion != "8" || !bytes.Contains(o.Value, []byte(`"kind":"Job"`)) || bytes.Contains(o.Value, []byte("changed")) {
					t.Errorf("object %d: %q %s", i, o.Form, o.Value)
				}
			}
			if whole := objects[answered-1].Value; !bytes.Contains(whole, []byte(`"image":"registry.example/worker:1"`)) || !bytes.Contains(whole, []byte("f:backoffLimit")) {
				t.Errorf("the answer: %s", whole)
			}
		})
	}
}
