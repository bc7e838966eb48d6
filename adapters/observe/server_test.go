package observe_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// apiServer is as much of an API server as a manager needs: objects of any kind, in namespaces, with optimistic
// locking, lists and watches.
type apiServer struct {
	mu       sync.Mutex
	version  int
	objects  map[string]map[string]any // by path
	watchers map[chan string]string    // to the resource
	closed   chan struct{}
	// lag is how much later watches tell of what happened.
	lag time.Duration
}

func newAPIServer(t testing.TB) *rest.Config { return newLaggingServer(t, 0) }

func newLaggingServer(t testing.TB, lag time.Duration) *rest.Config {
	s := &apiServer{lag: lag, objects: map[string]map[string]any{}, watchers: map[chan string]string{}, closed: make(chan struct{})}
	network := httptest.NewServer(s)
	t.Cleanup(func() { close(s.closed); network.Close() })
	return &rest.Config{Host: network.URL, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}, QPS: -1}
}

// ServeHTTP serves /api/v1/namespaces/{namespace}/{resource}[/{name}[/{subresource}]] and /api/v1/{resource}.
func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/api/v1/"), "/")
	if parts[0] != "namespaces" {
		parts = append([]string{"namespaces", ""}, parts...)
	}
	namespace, resource := parts[1], parts[2]
	if r.URL.Query().Get("watch") != "" {
		s.watch(w, r, resource)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	if len(parts) == 3 && r.Method == http.MethodGet {
		s.list(w, resource, namespace)
		return
	}
	var sent map[string]any
	_ = json.Unmarshal(body, &sent)
	var name string
	if len(parts) > 3 {
		name = parts[3]
	} else {
		name, _ = sent["metadata"].(map[string]any)["name"].(string)
	}
	path := resource + "/" + namespace + "/" + name
	held, exists := s.objects[path]
	switch {
	case r.Method == http.MethodPost && exists:
		refuse(w, http.StatusConflict, metav1.StatusReasonAlreadyExists)
	case r.Method == http.MethodPost:
		meta := sent["metadata"].(map[string]any)
		meta["namespace"], meta["uid"] = namespace, "uid-"+path
		s.store(w, path, resource, sent, "ADDED")
	case !exists:
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	case r.Method == http.MethodGet:
		_ = json.NewEncoder(w).Encode(held)
	case r.Method == http.MethodPut:
		if version := sent["metadata"].(map[string]any)["resourceVersion"]; version != nil && version != held["metadata"].(map[string]any)["resourceVersion"] {
			refuse(w, http.StatusConflict, metav1.StatusReasonConflict)
			return
		}
		s.store(w, path, resource, sent, "MODIFIED")
	case r.Method == http.MethodPatch: // applying is merging, for one manager
		old, _ := json.Marshal(held)
		merged, err := jsonpatch.MergePatch(old, body)
		if err != nil {
			refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
			return
		}
		var result map[string]any
		_ = json.Unmarshal(merged, &result)
		s.store(w, path, resource, result, "MODIFIED")
	case r.Method == http.MethodDelete:
		delete(s.objects, path)
		s.version++
		held["metadata"].(map[string]any)["resourceVersion"] = fmt.Sprint(s.version)
		s.tell(resource, "DELETED", held)
		_ = json.NewEncoder(w).Encode(held)
	}
}

func (s *apiServer) store(w http.ResponseWriter, path, resource string, o map[string]any, event string) {
	s.version++
	o["metadata"].(map[string]any)["resourceVersion"] = fmt.Sprint(s.version)
	s.objects[path] = o
	s.tell(resource, event, o)
	_ = json.NewEncoder(w).Encode(o)
}

func (s *apiServer) list(w http.ResponseWriter, resource, namespace string) {
	items := []any{}
	for _, path := range slices.Sorted(maps.Keys(s.objects)) {
		if strings.HasPrefix(path, resource+"/"+namespace) {
			items = append(items, s.objects[path])
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "List", "apiVersion": "v1", "metadata": map[string]any{"resourceVersion": fmt.Sprint(s.version)}, "items": items,
	})
}

func (s *apiServer) tell(resource, event string, o map[string]any) {
	line, _ := json.Marshal(map[string]any{"type": event, "object": o})
	for watcher, watched := range s.watchers {
		if watched == resource {
			watcher <- string(line)
		}
	}
}

// watch tells of changes from now on: the objects that are listed first are told, too, which is more than is asked for
// and never less.
func (s *apiServer) watch(w http.ResponseWriter, r *http.Request, resource string) {
	lines := make(chan string, 10_000)
	s.mu.Lock()
	from := 0
	_, _ = fmt.Sscan(r.URL.Query().Get("resourceVersion"), &from)
	for _, path := range slices.Sorted(maps.Keys(s.objects)) {
		version := 0
		_, _ = fmt.Sscan(s.objects[path]["metadata"].(map[string]any)["resourceVersion"].(string), &version)
		if strings.HasPrefix(path, resource+"/") && version > from {
			line, _ := json.Marshal(map[string]any{"type": "ADDED", "object": s.objects[path]})
			lines <- string(line)
		}
	}
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		lines <- fmt.Sprintf(`{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"%d","annotations":{"k8s.io/initial-events-end":"true"}}}}`, s.version)
	}
	s.watchers[lines] = resource
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.watchers, lines)
		s.mu.Unlock()
	}()
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	for {
		select {
		case line := <-lines:
			time.Sleep(s.lag)
			_, _ = io.WriteString(w, line+"\n")
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return
		case <-s.closed:
			return
		}
	}
}

func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "refused: " + string(reason),
	})
}

// newManager returns a manager of that server.
func newManager(t testing.TB, server_ *rest.Config) ctrl.Manager {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	anyName := true
	mgr, err := ctrl.NewManager(server_, ctrl.Options{
		Scheme:     scheme,
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: &anyName},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			mapper := meta.NewDefaultRESTMapper(nil)
			for _, kind := range []string{"ConfigMap", "Secret", "Pod"} {
				mapper.Add(corev1.SchemeGroupVersion.WithKind(kind), meta.RESTScopeNamespace)
			}
			return mapper, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return mgr
}
