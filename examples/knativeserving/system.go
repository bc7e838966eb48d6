package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	caching "knative.dev/caching/pkg/apis/caching/v1alpha1"
	networking "knative.dev/networking/pkg/apis/networking/v1alpha1"
	filteredinformerfactory "knative.dev/pkg/client/injection/kube/informers/factory/filtered"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	serving "knative.dev/serving/pkg/apis/serving"
	v1 "knative.dev/serving/pkg/apis/serving/v1"
	servingscheme "knative.dev/serving/pkg/client/clientset/versioned/scheme"
	"knative.dev/serving/pkg/reconciler/autoscaling/kpa"
	"knative.dev/serving/pkg/reconciler/configuration"
	"knative.dev/serving/pkg/reconciler/labeler"
	"knative.dev/serving/pkg/reconciler/revision"
	"knative.dev/serving/pkg/reconciler/route"
	"knative.dev/serving/pkg/reconciler/serverlessservice"
	"knative.dev/serving/pkg/reconciler/service"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/orrery-dev/orrery/adapters/clientgo"
	"github.com/orrery-dev/orrery/adapters/knative"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// systemNamespace is where the control plane of Knative runs.
const systemNamespace = "knative-serving"

// activatorIP is the address of Knative's activator.
const activatorIP = "10.1.1.1"

// size says how large the system is.
type size struct {
	services int
	// idle tells that there are no requests.
	idle bool
}

// newSystem returns the controllers with Services of a size.
func newSystem(of size) (*core.System, error) {
	if err := os.Setenv("SYSTEM_NAMESPACE", systemNamespace); err != nil {
		return nil, err
	}
	types := kuberuntime.NewScheme()
	for _, add := range []func(*kuberuntime.Scheme) error{scheme.AddToScheme, servingscheme.AddToScheme, networking.AddToScheme, caching.AddToScheme} {
		if err := add(types); err != nil {
			return nil, err
		}
	}
	config, err := readConfig()
	if err != nil {
		return nil, err
	}
	objects := []client.Object{activatorService()}
	for i := range of.services {
		objects = append(objects, newService(fmt.Sprintf("s%d", i+1), of))
	}
	return clientgo.New(types,
		clientgo.Name("knativeserving"),
		clientgo.CRDs(config.definitions...),
		clientgo.Setup(controllers(config).Setup),
		clientgo.Setup(autoscaler(config, of).Setup),
		clientgo.Setup(deployments), clientgo.Setup(endpoints), clientgo.Setup(ingresses),
		clientgo.ObjectValues(objects...),
		clientgo.Properties(properties.Convergent()...),
	)
}

// controllers is the process of the main function in cmd/controller.
func controllers(config *config) knative.Process {
	return knative.Process{
		Controllers: []knative.Controller{
			{Name: "configuration", New: configuration.NewController},
			{Name: "labeler", New: labeler.NewController},
			{Name: "revision", New: revision.NewController},
			{Name: "route", New: route.NewController},
			{Name: "serverlessservice", New: serverlessservice.NewController},
			{Name: "service", New: service.NewController},
		},
		ConfigMaps: config.maps,
		Context:    selecting,
	}
}

// autoscaler is the process of the main function in cmd/autoscaler, with a stand-in for the measured load.
func autoscaler(config *config, of size) knative.Process {
	var network dialing
	return knative.Process{
		Controllers: []knative.Controller{{Name: "autoscaler", New: network.connected(func(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
			return kpa.NewController(ctx, cmw, load{idle: of.idle})
		})}},
		ConfigMaps: config.maps,
		Context:    selecting,
	}
}

// selecting selects what the filtered informers of Serving show.
func selecting(ctx context.Context) context.Context {
	return filteredinformerfactory.WithSelectors(ctx, serving.RevisionUID)
}

// config is what a release of Knative configures the API server and its control plane with.
type config struct {
	definitions []string
	maps        []*corev1.ConfigMap
}

// readConfig reads the configuration from the source of the modules, next to the code that is compiled in.
func readConfig() (*config, error) {
	found := &config{}
	serving := filepath.Join(directory(revision.NewController), "..", "..", "..", "config", "core")
	networking := filepath.Join(directory(networking.Resource), "..", "..", "..", "..", "config")
	caching := filepath.Join(directory(caching.Resource), "..", "..", "..", "..", "config")
	found.definitions = []string{
		filepath.Join(serving, "300-resources"), filepath.Join(caching, "image.yaml"),
		filepath.Join(networking, "certificate.yaml"), filepath.Join(networking, "domain-claim.yaml"),
		filepath.Join(networking, "ingress.yaml"), filepath.Join(networking, "serverlessservice.yaml"),
	}
	files, err := filepath.Glob(filepath.Join(serving, "configmaps", "*.yaml"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("the configuration of Knative is read from the source of its modules, which is not in %s: build without -trimpath and run where Go modules are", serving)
	}
	for _, file := range append(files, filepath.Join(networking, "config-network.yaml")) {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		m := &corev1.ConfigMap{}
		if err := yaml.Unmarshal(text, m); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		delete(m.Data, "_example")
		if m.Data == nil {
			m.Data = map[string]string{}
		}
		found.maps = append(found.maps, m)
	}
	return found, nil
}

// directory returns where the source of a function is.
func directory(function any) string {
	file, _ := runtime.FuncForPC(reflect.ValueOf(function).Pointer()).FileLine(0)
	return filepath.Dir(file)
}

// newService is a Service as the webhooks of Serving leave it.
func newService(name string, of size) *v1.Service {
	s := &v1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	s.Spec.Template.Annotations = map[string]string{"autoscaling.knative.dev/class": "kpa.autoscaling.knative.dev"}
	if !of.idle {
		s.Spec.Template.Annotations["autoscaling.knative.dev/min-scale"] = "1"
	}
	s.Spec.Template.Spec.Containers = []corev1.Container{{Image: "registry.example.com/hello@sha256:" + strings.Repeat("0", 64)}}
	s.SetDefaults(context.Background())
	return s
}

// activatorService are the endpoints of Knative's activator, which gets the requests for what is scaled to zero.
func activatorService() *corev1.Endpoints {
	return &corev1.Endpoints{
		ObjectMeta: metav1.ObjectMeta{Namespace: systemNamespace, Name: "activator-service"},
		Subsets: []corev1.EndpointSubset{{
			Addresses: []corev1.EndpointAddress{{IP: activatorIP}},
			Ports:     []corev1.EndpointPort{{Name: "http", Port: 8012}, {Name: "http2", Port: 8013}},
		}},
	}
}
