package conformance

import (
	"context"
	"maps"
	"net/http"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/transport"
	"github.com/orrery-dev/orrery/core"
)

// definitionsPath is where the custom resource definitions are, seen from this package.
const definitionsPath = "../testdata/golden/definitions.yaml"

// userAgent names the clients. Servers take the manager of fields from it.
const userAgent = "orrery/conformance"

// NewScheme returns a scheme with the built-in kinds among the subjects.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, coordinationv1.AddToScheme,
		admissionregistrationv1.AddToScheme, autoscalingv2.AddToScheme, certificatesv1.AddToScheme, discoveryv1.AddToScheme,
		networkingv1.AddToScheme, nodev1.AddToScheme, policyv1.AddToScheme, rbacv1.AddToScheme, schedulingv1.AddToScheme, storagev1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// Simulated is the API server under measurement. Each run has a world of its own.
type Simulated struct {
	server   *kube.Server
	scheme   *runtime.Scheme
	subjects []Subject
}

// NewSimulated returns a server for all subjects, with more options if any are given.
func NewSimulated(subjects []Subject, options ...kube.Option) (*Simulated, error) {
	scheme, err := NewScheme()
	if err != nil {
		return nil, err
	}
	options = append([]kube.Option{kube.DefinitionFiles(definitionsPath), kube.StrictNamespaces(), kube.ManagedFields(), kube.VolumeProtection()}, options...)
	server, err := kube.NewServer(scheme, options...)
	if err != nil {
		return nil, err
	}
	return &Simulated{server: server, scheme: scheme, subjects: subjects}, nil
}

// Begin starts a run in an empty world.
func (s *Simulated) Begin(ctx context.Context, suffix string) (*Side, *World, error) {
	world := &World{server: s.server, objects: map[core.Key]core.Content{}, past: map[core.Key][]core.Content{}}
	connection := transport.New(s.server, world).Config(userAgent)
	sent, err := rest.HTTPClientFor(connection)
	if err != nil {
		return nil, nil, err
	}
	clients, err := client.New(connection, client.Options{HTTPClient: sent, Scheme: s.scheme, Mapper: s.server.RESTMapper()})
	if err != nil {
		return nil, nil, err
	}
	side := &Side{
		client:      clients,
		http:        sent,
		host:        connection.Host,
		unsupported: world.takeUnsupported,
		scheme:      s.scheme,
		subjects:    s.subjects,
		suffix:      suffix,
	}
	if err := side.begin(ctx); err != nil {
		return nil, nil, err
	}
	return side, world, nil
}

// remembered is how many earlier versions of an object a World keeps. A real server never
// forgets one; a sequence of any length meets no older ones, and a long one is not to take
// longer with each request.
const remembered = 256

// World is the simulated server's store in one run.
type World struct {
	server  *kube.Server
	objects map[core.Key]core.Content
	// past are the earlier versions of each object, the latest ones last.
	past map[core.Key][]core.Content
	// asked is told of every request that is answered, before it is; nil tells nobody.
	asked       func(*kube.Request)
	unsupported string
}

var (
	_ core.Snapshot       = (*World)(nil)
	_ core.EffectRecorder = (*World)(nil)
)

// Get implements [core.Snapshot].
func (w *World) Get(key core.Key) core.Content { return w.objects[key] }

// List implements [core.Snapshot].
func (w *World) List(kind core.Kind, namespace string) []core.Object {
	var objects []core.Object
	for _, key := range slices.SortedFunc(maps.Keys(w.objects), core.Key.Compare) {
		if key.Kind == kind && (namespace == "" || key.Namespace == namespace) {
			objects = append(objects, core.Object{Key: key, Content: w.objects[key]})
		}
	}
	return objects
}

// Held implements [core.Snapshot].
func (w *World) Held(key core.Key) []core.Content { return w.past[key] }

// Do implements [core.EffectRecorder]. What the server does not model is answered with
// a refusal, and kept apart.
func (w *World) Do(call core.Call) core.Response {
	if request, ok := call.(*kube.Request); ok && w.asked != nil {
		w.asked(request)
	}
	answer, err := w.server.Answer(w, call)
	if err != nil {
		w.unsupported = err.Error()
		return &kube.Response{Status: &metav1.Status{
			Status:  metav1.StatusFailure,
			Code:    http.StatusNotImplemented,
			Message: w.unsupported,
		}}
	}
	for _, write := range answer.Writes {
		if before := w.objects[write.Key]; before != nil {
			past := append(w.past[write.Key], before)
			w.past[write.Key] = past[max(0, len(past)-remembered):]
		}
		if write.Content == nil {
			delete(w.objects, write.Key)
		} else {
			w.objects[write.Key] = write.Content
		}
	}
	return answer.Response
}

func (w *World) takeUnsupported() string {
	missing := w.unsupported
	w.unsupported = ""
	return missing
}
