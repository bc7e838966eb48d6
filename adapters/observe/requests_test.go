package observe_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/orrery-dev/orrery/adapters/observe"
	"github.com/orrery-dev/orrery/record/live"
)

// answering answers requests in a form of one's own.
type answering struct {
	code        int
	media, text string
	err         error
}

func (a answering) RoundTrip(request *http.Request) (*http.Response, error) {
	if a.err != nil {
		return nil, a.err
	}
	return &http.Response{
		StatusCode: a.code, Status: fmt.Sprint(a.code), Header: http.Header{"Content-Type": {a.media}}, Body: io.NopCloser(strings.NewReader(a.text)), Request: request,
	}, nil
}

// TestRequests takes each kind of request, and any answer, for what it is. What clients get is what was answered.
func TestRequests(t *testing.T) {
	var files []*file
	options := inMemory(&files)
	recorder := observe.NewRecorder(options)
	send := func(a answering, do func(kubernetes.Interface) error) error {
		config := recorder.Config(&rest.Config{Host: "http://api", Transport: a}, scheme.Scheme)
		config.QPS = -1
		return do(kubernetes.NewForConfigOrDie(config))
	}
	ctx := t.Context()
	one := `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default","resourceVersion":"7"}}`
	object := answering{200, "application/json", one, nil}
	zero := int64(0)
	background := metav1.DeletePropagationBackground
	requests := []struct {
		answer answering
		do     func(kubernetes.Interface) error
		want   string
		fails  bool
	}{
		{object, func(c kubernetes.Interface) error {
			_, err := c.CoreV1().ConfigMaps("default").Get(ctx, "a", metav1.GetOptions{})
			return err
		}, ": get ConfigMap default/a 1", false},
		{answering{200, "application/json", `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"x"},"items":[{"metadata":{"name":"a","resourceVersion":"7"}}]}`, nil}, func(c kubernetes.Interface) error {
			_, err := c.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{LabelSelector: "a=b", Limit: 1})
			return err
		}, ": list ConfigMap default/ 1", false},
		{object, func(c kubernetes.Interface) error {
			_, err := c.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{ResourceVersion: "0"})
			return err
		}, "", false}, // it fills a cache
		{object, func(c kubernetes.Interface) error {
			_, err := c.CoreV1().ConfigMaps("default").Patch(ctx, "a", types.MergePatchType, []byte(`{"data":{"a":"b"}}`), metav1.PatchOptions{})
			return err
		}, ": patch ConfigMap default/a 1", false},
		{object, func(c kubernetes.Interface) error {
			_, err := c.CoreV1().ConfigMaps("default").Apply(ctx, applycorev1.ConfigMap("a", "default"), metav1.ApplyOptions{FieldManager: "m", Force: true})
			return err
		}, ": apply ConfigMap default/a 1", false},
		{answering{200, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Success"}`, nil}, func(c kubernetes.Interface) error {
			return c.CoreV1().ConfigMaps("default").Delete(ctx, "a", metav1.DeleteOptions{GracePeriodSeconds: &zero, PropagationPolicy: &background, Preconditions: metav1.NewUIDPreconditions("u")})
		}, ": delete ConfigMap default/a 0", false},
		{answering{200, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Success"}`, nil}, func(c kubernetes.Interface) error {
			return c.CoreV1().ConfigMaps("default").DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
		}, ": deletecollection ConfigMap default/ 0", false},
		{answering{200, "application/json", `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"a"}}`, nil}, func(c kubernetes.Interface) error {
			_, err := c.CoreV1().Namespaces().UpdateStatus(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.UpdateOptions{})
			return err
		}, ": update Namespace a/status 1", false},
		{answering{200, "application/json", `{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"a","namespace":"default"}}`, nil}, func(c kubernetes.Interface) error {
			_, err := c.AppsV1().Deployments("default").GetScale(ctx, "a", metav1.GetOptions{})
			return err
		}, ": get Deployment.apps default/a/scale 0", false},
		{answering{200, "text/plain", `a line`, nil}, func(c kubernetes.Interface) error {
			_, err := c.CoreV1().Pods("default").GetLogs("a", &corev1.PodLogOptions{}).DoRaw(ctx)
			return err
		}, "", false},
		{answering{409, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409}`, nil}, func(c kubernetes.Interface) error {
			_, err := c.CoreV1().ConfigMaps("default").Update(ctx, ofUser("a", ""), metav1.UpdateOptions{})
			return err
		}, ": update ConfigMap default/a Conflict", true},
		{answering{502, "text/html", `<html>`, nil}, func(c kubernetes.Interface) error {
			_, err := c.CoreV1().ConfigMaps("default").Get(ctx, "a", metav1.GetOptions{})
			return err
		}, ": get ConfigMap default/a ", true},
		{answering{err: io.ErrUnexpectedEOF}, func(c kubernetes.Interface) error {
			_, err := c.CoreV1().ConfigMaps("default").Update(ctx, ofUser("a", ""), metav1.UpdateOptions{})
			return err
		}, ": update ConfigMap default/a ", true},
		{answering{200, "application/json", `{"kind":"ConfigMap","apiVersion":`, nil}, func(c kubernetes.Interface) error {
			_, err := c.CoreV1().ConfigMaps("default").Get(ctx, "a", metav1.GetOptions{})
			return err
		}, ": get ConfigMap default/a 0", true},
	}
	var want []string
	for i, request := range requests {
		if err := send(request.answer, request.do); (err != nil) != request.fails {
			t.Errorf("request %d: the client says %v", i, err)
		}
		if request.want != "" {
			want = append(want, request.want)
		}
	}
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	entries := entriesOf(t, files[0].Bytes())
	if got := tale(entries); got != strings.Join(want, "\n")+"\n" {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	calls := the[live.Call](entries)
	if s := calls[1]; s.Selection == nil || *s.Selection != (live.Selection{Labels: "a=b", Limit: 1}) || s.ListVersion != "9" || !s.Continues {
		t.Errorf("the list is %+v", s)
	}
	if w := calls[2].Write; w.Patch != string(types.MergePatchType) || string(calls[2].Sent) != `{"data":{"a":"b"}}` {
		t.Errorf("the patch is %+v, %s", w, calls[2].Sent)
	}
	if w := calls[3].Write; !w.Force || w.Manager != "m" || !bytes.Contains(calls[3].Sent, []byte(`"ConfigMap"`)) {
		t.Errorf("what is applied is %+v, %s", w, calls[3].Sent)
	}
	if w := calls[4].Write; w.UID != "u" || w.Grace == nil || w.Propagation != "Background" {
		t.Errorf("the deletion is %+v", w)
	}
}

// TestProtobuf records what is sent and answered in the form that many clients of Kubernetes use.
func TestProtobuf(t *testing.T) {
	var files []*file
	options := inMemory(&files)
	recorder := observe.NewRecorder(options)
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	answer := ofUser("a", "b")
	answer.ResourceVersion = "7"
	text, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion), answer)
	if err != nil {
		t.Fatal(err)
	}
	config := recorder.Config(&rest.Config{
		Host: "http://api", Transport: answering{200, runtime.ContentTypeProtobuf, string(text), nil}, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeProtobuf},
	}, scheme.Scheme)
	got, err := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default").Create(t.Context(), ofUser("a", "b"), metav1.CreateOptions{})
	if err != nil || got.Data["n"] != "b" {
		t.Fatalf("the client gets %v, %v", got, err)
	}
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	entries := entriesOf(t, files[0].Bytes())
	calls, objects := the[live.Call](entries), the[live.Object](entries)
	if tale(entries) != ": create ConfigMap default/a 1\n" || len(objects) != 1 || objects[0].ResourceVersion != "7" ||
		!bytes.Contains(objects[0].Value, []byte(`"data":{"n":"b"}`)) || !bytes.Contains(calls[0].Sent, []byte(`"kind":"ConfigMap"`)) {
		t.Errorf("recorded are %s, %+v, and %s was sent", tale(entries), objects, calls[0].Sent)
	}
}
