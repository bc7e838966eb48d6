package cluster

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/orrery-dev/orrery/adapters/kube"
)

// node is shorthand for JSON objects in tests.
type node = map[string]any

// exchanged is a request as it arrives at an API server.
type exchanged struct {
	method, path, query, contentType, body string
}

// api is the little of an API server that tests need: it keeps objects by their paths,
// gives them uids and versions, and writes down what it is asked.
type api struct {
	lock    sync.Mutex
	objects map[string]node
	// past are the objects after each write; revisions count from 1, before the first.
	past  []map[string]node
	asked []exchanged
	// answers are sent instead of what would be, by method and path.
	answers map[string]answer
}

type answer struct {
	code int
	body string
}

// newCluster returns a cluster with a new api behind it, which serves the kinds of
// Kubernetes and those in testdata.
func newCluster(t *testing.T) (*Cluster, *api) {
	t.Helper()
	return newClusterOf(t, clientgoscheme.Scheme)
}

// newClusterOf returns one whose server serves the kinds of a scheme in place of those of Kubernetes.
func newClusterOf(t *testing.T, scheme *runtime.Scheme) (*Cluster, *api) {
	t.Helper()
	a := &api{objects: map[string]node{}, answers: map[string]answer{}}
	listening := httptest.NewServer(a)
	t.Cleanup(listening.Close)
	simulated, err := kube.NewServer(scheme, kube.DefinitionFiles("testdata/kinds.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(&rest.Config{Host: listening.URL}, simulated)
	if err != nil {
		t.Fatal(err)
	}
	return c, a
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.lock.Lock()
	defer a.lock.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	address := r.URL.EscapedPath()
	a.asked = append(a.asked, exchanged{r.Method, address, r.URL.RawQuery, r.Header.Get("Content-Type"), string(body)})
	if set, ok := a.answers[r.Method+" "+address]; ok {
		w.WriteHeader(set.code)
		fmt.Fprint(w, set.body)
		return
	}
	code, sent := a.answer(r.Method, address, r.URL.Query(), body)
	w.WriteHeader(code)
	text, err := json.Marshal(sent)
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(text)
}

func (a *api) answer(method, address string, query url.Values, body []byte) (int, any) {
	var fields node
	_ = json.Unmarshal(body, &fields)
	switch method {
	case http.MethodGet:
		if isList(address) {
			return a.list(address, query)
		}
	case http.MethodPost:
		name, _ := metadata(fields)["name"].(string)
		address += "/" + name
		if a.objects[address] != nil {
			return refusal(apierrors.NewAlreadyExists(schema.GroupResource{Resource: "things"}, name))
		}
		metadata(fields)["uid"] = fmt.Sprintf("00000000-0000-4000-8000-%012d", len(a.objects)+1)
		a.write(address, fields)
		return http.StatusCreated, fields
	case http.MethodPut:
		address = strings.TrimSuffix(address, "/status")
		if object := a.objects[address]; object != nil {
			metadata(fields)["uid"] = metadata(object)["uid"]
			a.write(address, fields)
		}
	case http.MethodDelete:
		if object := a.objects[address]; object != nil {
			a.write(address, nil)
			return http.StatusOK, object
		}
	}
	if object := a.objects[address]; object != nil {
		return http.StatusOK, object
	}
	return refusal(apierrors.NewNotFound(schema.GroupResource{Resource: "things"}, path.Base(address)))
}

// write replaces an object, or deletes it, in a revision of its own.
func (a *api) write(address string, fields node) {
	a.past = append(a.past, maps.Clone(a.objects))
	if fields == nil {
		delete(a.objects, address)
		return
	}
	metadata(fields)["resourceVersion"] = strconv.Itoa(len(a.past) + 1)
	a.objects[address] = fields
}

// isList reports whether a path is that of a kind of the core group, in a namespace or in all of them. Other kinds
// are served only where a test says so.
func isList(address string) bool {
	return strings.HasPrefix(address, "/api/") && strings.Count(address, "/")%2 == 1
}

// list answers a list, as of the exact revision that the query names if it does.
func (a *api) list(address string, query url.Values) (int, any) {
	objects, revision := a.objects, len(a.past)+1
	if query.Get("resourceVersionMatch") == "Exact" {
		revision, _ = strconv.Atoi(query.Get("resourceVersion"))
		if revision <= len(a.past) {
			objects = a.past[revision-1]
		}
	}
	before, kind := path.Split(address)
	items := []any{}
	for _, at := range slices.Sorted(maps.Keys(objects)) {
		under, name := path.Split(at)
		wanted, named := strings.CutPrefix(query.Get("fieldSelector"), "metadata.name=")
		if strings.HasPrefix(under, before) && strings.HasSuffix(under, "/"+kind+"/") && (!named || name == wanted) {
			items = append(items, objects[at])
		}
	}
	return http.StatusOK, node{"metadata": node{"resourceVersion": strconv.Itoa(revision)}, "items": items}
}

func refusal(err *apierrors.StatusError) (int, any) {
	status := err.ErrStatus
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	return int(status.Code), status
}

// log returns what was asked, each as "METHOD path". The path of a create ends with the
// name of what is created.
func (a *api) log() []string {
	a.lock.Lock()
	defer a.lock.Unlock()
	var lines []string
	for _, e := range a.asked {
		line := e.method + " " + e.path
		if e.method == http.MethodPost {
			var body struct{ Metadata struct{ Name string } }
			_ = json.Unmarshal([]byte(e.body), &body)
			line += "/" + body.Metadata.Name
		}
		lines = append(lines, line)
	}
	return lines
}
