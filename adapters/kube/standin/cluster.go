package standin

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/adapters/kube/transport"
	"github.com/orrery-dev/orrery/core"
)

// Cluster is a simulated API server with objects. It is an [http.RoundTripper], safe for concurrent use.
type Cluster struct {
	server *kube.Server
	began  time.Time

	mu sync.Mutex
	// changed is told of each change, of what is held back, and of the end.
	changed  *sync.Cond
	objects  map[core.Key]core.Content
	versions map[core.Key]uint64
	revision uint64
	// past are all changes in their order.
	past []change
	// held are the kinds whose changes are held back, with the revision up to which they are told.
	held   map[core.Kind]uint64
	closed bool
}

// change is one change of an object. object is the last version of what is deleted.
type change struct {
	key      core.Key
	revision uint64
	event    string
	object   core.Content
}

// New returns a cluster without objects.
func New(server *kube.Server) *Cluster {
	c := &Cluster{server: server, began: storage.Now().Time, objects: map[core.Key]core.Content{}, versions: map[core.Key]uint64{}, held: map[core.Kind]uint64{}}
	c.changed = sync.NewCond(&c.mu)
	return c
}

// Config is how a program of this name reaches the cluster.
func (c *Cluster) Config(program string) *rest.Config {
	config := (&transport.Transport{Server: c.server}).Config(program)
	config.Transport = c
	return config
}

// Close ends all watches.
func (c *Cluster) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.changed.Broadcast()
}

// Hold keeps what changes of a kind from now on from those who watch it, until it is released.
func (c *Cluster) Hold(kind core.Kind) (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held[kind] = c.revision
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.held, kind)
		c.changed.Broadcast()
	}
}

// snapshot is what the objects are at the moment. The lock is held while it is used.
type snapshot struct{ *Cluster }

var _ core.Snapshot = snapshot{}

// Get implements [core.Snapshot].
func (s snapshot) Get(key core.Key) core.Content { return s.objects[key] }

// Held implements [core.Snapshot]: a version that comes back has another number here anyway.
func (s snapshot) Held(core.Key) []core.Content { return nil }

// List implements [core.Snapshot].
func (s snapshot) List(kind core.Kind, namespace string) []core.Object {
	var all []core.Object
	for _, key := range slices.SortedFunc(maps.Keys(s.objects), core.Key.Compare) {
		if key.Kind == kind && (namespace == "" || key.Namespace == namespace) {
			all = append(all, core.Object{Key: key, Content: s.objects[key]})
		}
	}
	return all
}

// recorder carries out the calls of one request.
type recorder struct {
	*Cluster
	store core.Store
	// failed is why a call has no answer.
	failed error
}

// Do implements [core.EffectRecorder].
func (r *recorder) Do(call core.Call) core.Response {
	answer, err := r.store.Answer(snapshot{r.Cluster}, call)
	if err != nil {
		r.failed = err
		return kube.Done(nil)
	}
	for _, w := range answer.Writes {
		r.write(w)
	}
	return answer.Response
}

// write carries out a write.
func (c *Cluster) write(w core.Write) {
	if storage.IsRecord(w.Key.Kind) {
		c.objects[w.Key] = w.Content
		if w.Content == nil {
			delete(c.objects, w.Key)
		}
		return
	}
	before, event := c.objects[w.Key], "MODIFIED"
	c.revision++
	told := w.Content
	switch {
	case w.Content == nil:
		event, told = "DELETED", before
		delete(c.objects, w.Key)
	case before == nil:
		event = "ADDED"
	}
	if w.Content != nil {
		c.objects[w.Key] = w.Content
	}
	c.versions[w.Key] = c.revision
	c.past = append(c.past, change{w.Key, c.revision, event, told})
	c.changed.Broadcast()
}

// RoundTrip implements [http.RoundTripper].
func (c *Cluster) RoundTrip(sent *http.Request) (*http.Response, error) {
	if watched := sent.URL.Query().Get("watch"); watched == "true" || watched == "1" {
		return c.watch(sent)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	plain := sent.Clone(sent.Context())
	query := plain.URL.Query()
	for _, name := range []string{"resourceVersion", "resourceVersionMatch"} { // the newest objects are good enough for all reads
		query.Del(name)
	}
	plain.URL.RawQuery = query.Encode()
	if sent.Body != nil {
		body, err := io.ReadAll(sent.Body)
		if err != nil {
			return nil, err
		}
		if body, err = c.inward(sent, body); err != nil {
			return nil, err
		}
		plain.Body, plain.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	server := c.server.After(time.Since(c.began)).(*kube.Server)
	r := &recorder{Cluster: c, store: server}
	response, err := transport.New(server, r).RoundTrip(plain)
	if r.failed != nil {
		return nil, r.failed
	}
	if err != nil || response.StatusCode >= http.StatusBadRequest {
		return response, err
	}
	return c.outward(sent, response)
}

// outward gives an answer the resource versions that count up.
func (c *Cluster) outward(sent *http.Request, response *http.Response) (*http.Response, error) {
	var tree map[string]any
	body, err := io.ReadAll(response.Body)
	if err == nil {
		err = json.Unmarshal(body, &tree)
	}
	kind, name, known := c.about(sent)
	if err != nil || !known {
		response.Body = io.NopCloser(bytes.NewReader(body))
		return response, err
	}
	if items, list := tree["items"].([]any); list {
		for _, item := range items {
			c.number(kind, "", item)
		}
		if meta, ok := tree["metadata"].(map[string]any); ok {
			meta["resourceVersion"] = strconv.FormatUint(c.revision, 10)
		}
	} else {
		c.number(kind, name, tree)
	}
	if body, err = json.Marshal(tree); err != nil {
		return nil, err
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return response, nil
}

// number puts the number of the version into an object, or into what a subresource of one shows.
func (c *Cluster) number(kind core.Kind, name string, object any) {
	tree, _ := object.(map[string]any)
	meta, ok := tree["metadata"].(map[string]any)
	if !ok {
		return
	}
	key := core.Key{Kind: kind, Name: name}
	key.Namespace, _ = meta["namespace"].(string)
	if name == "" {
		key.Name, _ = meta["name"].(string)
	}
	if version, known := c.versions[key]; known {
		meta["resourceVersion"] = strconv.FormatUint(version, 10)
	}
}

// inward gives the versions that a body names the names that the server knows them by.
func (c *Cluster) inward(sent *http.Request, body []byte) ([]byte, error) {
	var tree map[string]any
	kind, name, known := c.about(sent)
	if readable := json.Unmarshal(body, &tree) == nil; !known || !readable {
		return body, nil // the server says what is wrong with it
	}
	meta, _ := tree["metadata"].(map[string]any)
	if conditions, ok := tree["preconditions"].(map[string]any); ok && sent.Method == http.MethodDelete {
		meta = conditions
	}
	version, has := meta["resourceVersion"].(string)
	if !has || version == "" {
		return body, nil
	}
	namespace, _, _ := path(sent.URL.Path)
	key := core.Key{Kind: kind, Namespace: namespace, Name: name}
	content, current := c.objects[key], c.versions[key]
	meta["resourceVersion"] = "1" // which names no content but by a chance of one in 2^53
	if content != nil && version == strconv.FormatUint(current, 10) {
		meta["resourceVersion"] = storage.Of(content).Version
	}
	return json.Marshal(tree)
}

// about returns the kind that a request is about, and the name in its path.
func (c *Cluster) about(sent *http.Request) (kind core.Kind, name string, known bool) {
	_, resource, name := path(sent.URL.Path)
	found, err := c.server.KindFor(resource)
	if err != nil {
		return "", "", false
	}
	return kube.KindOf(found.GroupKind()), name, true
}

// refuse is the answer to what is not served here.
func refuse(sent *http.Request, says string) (*http.Response, error) {
	text, err := json.Marshal(map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure", "reason": "NotImplemented",
		"code": http.StatusNotImplemented, "message": says,
	})
	return &http.Response{
		StatusCode: http.StatusNotImplemented, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(text)), Request: sent,
	}, err
}
