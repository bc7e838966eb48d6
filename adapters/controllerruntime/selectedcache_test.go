package controllerruntime_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"pgregory.net/rapid"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
)

// unchanging is a server with ConfigMaps and Namespaces that never change, for a real cache.
type unchanging struct{ objects []client.Object }

// RoundTrip implements [http.RoundTripper]: lists are answered, and watches never have anything to say.
func (c *unchanging) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	if query.Get("sendInitialEvents") != "" { // as a server that cannot: then it is asked for a list
		invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", nil).Status()
		invalid.Kind, invalid.APIVersion = "Status", "v1"
		text, err := json.Marshal(invalid)
		return respond(http.StatusUnprocessableEntity, io.NopCloser(bytes.NewReader(text))), err
	}
	if query.Get("watch") != "" {
		body, _ := io.Pipe()
		context.AfterFunc(request.Context(), func() { _ = body.Close() })
		return respond(http.StatusOK, body), nil
	}
	path := strings.Split(strings.TrimPrefix(request.URL.Path, "/api/v1/"), "/")
	namespace, plural := "", path[len(path)-1]
	if len(path) > 1 {
		namespace = path[1]
	}
	byLabel, err := labels.Parse(query.Get("labelSelector"))
	if err != nil {
		return nil, err
	}
	byField, err := fields.ParseSelector(query.Get("fieldSelector"))
	if err != nil {
		return nil, err
	}
	items := []client.Object{}
	for _, o := range c.objects {
		of := "configmaps"
		if _, its := o.(*corev1.Namespace); its {
			of = "namespaces"
		}
		set := fields.Set{"metadata.name": o.GetName(), "metadata.namespace": o.GetNamespace()}
		if of == plural && (namespace == "" || namespace == o.GetNamespace()) && byLabel.Matches(labels.Set(o.GetLabels())) && byField.Matches(set) {
			items = append(items, o)
		}
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": map[string]string{"configmaps": "ConfigMapList", "namespaces": "NamespaceList"}[plural], "metadata": map[string]any{"resourceVersion": "1"}, "items": items})
	return respond(http.StatusOK, io.NopCloser(bytes.NewReader(text))), err
}

func respond(code int, body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}

// somewhere are the namespaces in which objects are.
func somewhere() []string { return []string{"a", "b", "c"} }

func newUnchanging() *unchanging {
	c := &unchanging{}
	for i, namespace := range somewhere() {
		c.objects = append(c.objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{"color": []string{"red", "blue"}[i%2], corev1.LabelMetadataName: namespace}}})
		for _, name := range []string{"x", "y", "z"} {
			o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string]string{"k": name}}
			if name != "z" {
				o.Labels = map[string]string{"color": []string{"red", "blue"}[(i+len(c.objects))%2]}
			}
			c.objects = append(c.objects, o)
		}
	}
	return c
}

// painted is a transform.
func painted(color string) toolscache.TransformFunc {
	return func(object any) (any, error) {
		o := object.(client.Object)
		o.SetLabels(map[string]string{"color": color})
		return o, nil
	}
}

// chosenOptions draws options of a cache.
func chosenOptions(t *rapid.T) cache.Options {
	seldom := rapid.IntRange(0, 3)
	selector := func(name string) labels.Selector {
		switch seldom.Draw(t, name) {
		case 0:
			return labels.SelectorFromSet(labels.Set{"color": "red"})
		case 1:
			return labels.Everything()
		}
		return nil
	}
	field := func(name string) fields.Selector {
		if seldom.Draw(t, name) == 0 {
			return fields.OneTermNotEqualSelector("metadata.name", "y")
		}
		return nil
	}
	transform := func(name string) toolscache.TransformFunc {
		if seldom.Draw(t, name) == 0 {
			return painted(name)
		}
		return nil
	}
	namespaces := func(name string) map[string]cache.Config {
		if seldom.Draw(t, name) == 0 {
			return nil
		}
		all := map[string]cache.Config{}
		for _, namespace := range append(somewhere()[:2], cache.AllNamespaces) {
			if rapid.Bool().Draw(t, name+" "+namespace) {
				all[namespace] = cache.Config{LabelSelector: selector("labels of " + namespace), FieldSelector: field("fields of " + namespace), Transform: transform("transform of " + namespace)}
			}
		}
		return all
	}
	options := cache.Options{
		DefaultNamespaces: namespaces("namespaces"), DefaultLabelSelector: selector("labels"), DefaultFieldSelector: field("fields"), DefaultTransform: transform("transform"),
		ByObject: map[client.Object]cache.ByObject{},
	}
	if rapid.Bool().Draw(t, "ConfigMaps") {
		options.ByObject[&corev1.ConfigMap{}] = cache.ByObject{Namespaces: namespaces("its namespaces"), Label: selector("its labels"), Field: field("its fields"), Transform: transform("its transform")}
	}
	if rapid.Bool().Draw(t, "Namespaces") {
		options.ByObject[&corev1.Namespace{}] = cache.ByObject{Label: selector("labels of Namespaces"), Transform: transform("transform of Namespaces")}
	}
	return options
}

// readings are what a cache answers to all sorts of reads.
func readings(ctx context.Context, from client.Reader) []string {
	var all []string
	note := func(what string, objects []string, err error) {
		slices.Sort(objects)
		all = append(all, fmt.Sprintf("%s: %s %v", what, objects, err))
	}
	for _, namespace := range append(somewhere(), "nowhere") {
		var found corev1.Namespace
		err := from.Get(ctx, client.ObjectKey{Name: namespace}, &found)
		note("get "+namespace, []string{fmt.Sprint(found.Kind, found.Labels)}, err)
		for _, name := range []string{"x", "y", "z", "none"} {
			var found corev1.ConfigMap
			err := from.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &found)
			note("get "+namespace+"/"+name, []string{fmt.Sprint(found.Kind, found.Labels, found.Data)}, err)
		}
	}
	red := client.MatchingLabels{"color": "red"}
	for name, options := range map[string][]client.ListOption{
		"all": nil, "red": {red}, "in a": {client.InNamespace("a")}, "in c": {client.InNamespace("c")}, "red in b": {client.InNamespace("b"), red},
		"nowhere": {client.InNamespace("nowhere")}, "by data": {client.MatchingFields{"data": "x"}}, "by data in a": {client.MatchingFields{"data": "x"}, client.InNamespace("a")},
		"by label": {client.MatchingFields{"color": "red"}},
	} {
		var found corev1.ConfigMapList
		err := from.List(ctx, &found, options...)
		var texts []string
		for _, o := range found.Items {
			texts = append(texts, fmt.Sprint(o.Kind, o.Namespace, "/", o.Name, o.Labels))
		}
		note("list "+name, texts, err)
		if strings.HasPrefix(name, "by") {
			continue // Namespaces have no index
		}
		var namespaces corev1.NamespaceList
		err = from.List(ctx, &namespaces, options...)
		texts = nil
		for _, o := range namespaces.Items {
			texts = append(texts, fmt.Sprint(o.Kind, o.Name, o.Labels))
		}
		note("list Namespaces "+name, texts, err)
	}
	slices.Sort(all)
	return all
}

// indexConfigMaps adds indexes of which one is about what a transform changes.
func indexConfigMaps(ctx context.Context, of client.FieldIndexer) error {
	if err := of.IndexField(ctx, &corev1.ConfigMap{}, "data", func(o client.Object) []string { return []string{o.(*corev1.ConfigMap).Data["k"]} }); err != nil {
		return err
	}
	return of.IndexField(ctx, &corev1.ConfigMap{}, "color", func(o client.Object) []string { return []string{o.GetLabels()["color"]} })
}

// realReadings are the readings of a real cache.
func realReadings(t *rapid.T, options cache.Options, from *unchanging) []string {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, suffix := range []string{"", "List"} { // as discovery tells
		mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"+suffix), meta.RESTScopeNamespace)
		mapper.Add(corev1.SchemeGroupVersion.WithKind("Namespace"+suffix), meta.RESTScopeRoot)
	}
	options.Scheme, options.Mapper, options.HTTPClient = scheme.Scheme, mapper, &http.Client{Transport: from}
	c, err := cache.New(&rest.Config{Host: "http://cluster"}, options)
	if err != nil {
		t.Fatal(err)
	}
	if err := indexConfigMaps(ctx, c); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	patience, enough := context.WithTimeout(ctx, 5*time.Second)
	defer enough()
	if !c.WaitForCacheSync(patience) {
		t.Fatal("the real cache is not filled")
	}
	return readings(patience, c)
}

// TestCacheHoldsWhatTheRealOneHolds reads from a cache and from that of controller-runtime, with the same options and
// objects.
func TestCacheHoldsWhatTheRealOneHolds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		options := chosenOptions(rt)
		var got []string
		w := newWorld(t, using(func(ctx context.Context, mgr ctrl.Manager) error {
			got = readings(ctx, mgr.GetCache())
			return nil
		}, indexConfigMaps),
			controllerruntime.ManagerOptions(ctrl.Options{Cache: options}), controllerruntime.ObjectValues(newUnchanging().objects...))
		if err := use(w); err != nil {
			rt.Fatal(err)
		}
		want := realReadings(rt, options, newUnchanging())
		for i := range want {
			if want[i] != got[i] {
				rt.Errorf("got  %s\nwant %s", got[i], want[i])
			}
		}
	})
}

// TestEventsOfASelectedCache checks what event handlers are told of objects that come into a cache of some objects,
// change in it, and leave it.
func TestEventsOfASelectedCache(t *testing.T) {
	red := cache.Config{LabelSelector: labels.SelectorFromSet(labels.Set{"color": "red"})}
	options := cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.ConfigMap{}: {Namespaces: map[string]cache.Config{"a": red, cache.AllNamespaces: {}}}}}
	at := func(namespace, color string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "x", Labels: map[string]string{"color": color}}}
	}
	for name, test := range map[string]struct {
		before, after *corev1.ConfigMap
		want          []string
	}{
		"comes in":           {at("a", "blue"), at("a", "red"), []string{"created"}},
		"leaves":             {at("a", "red"), at("a", "blue"), []string{"deleted red"}},
		"stays in":           {at("a", "red"), &corev1.ConfigMap{ObjectMeta: at("a", "red").ObjectMeta, Data: map[string]string{"k": "v"}}, []string{"updated"}},
		"stays out":          {at("a", "blue"), at("a", "green"), nil},
		"in another section": {at("b", "red"), at("b", "blue"), []string{"updated"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
			told := handler.Funcs{
				CreateFunc: func(context.Context, event.CreateEvent, queue) { got = append(got, "created") },
				UpdateFunc: func(context.Context, event.UpdateEvent, queue) { got = append(got, "updated") },
				DeleteFunc: func(_ context.Context, e event.DeleteEvent, _ queue) {
					got = append(got, "deleted "+e.Object.GetLabels()["color"])
				},
			}
			w := newWorld(t, controllerruntime.Setup(func(mgr ctrl.Manager) error {
				return ctrl.NewControllerManagedBy(mgr).Named("probe").Watches(&corev1.ConfigMap{}, told).
					Complete(reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
						return reconcile.Result{}, mgr.GetClient().Update(ctx, test.after.DeepCopy())
					}))
			}), controllerruntime.ManagerOptions(ctrl.Options{Cache: options}), controllerruntime.ObjectValues(test.before))
			key := core.Key{Kind: "ConfigMap", Namespace: test.before.Namespace, Name: "x"}
			before := w.Get(key)
			if err := use(w); err != nil {
				t.Fatal(err)
			}
			w.instance("probe").Handle(w, core.Event{Key: key, Old: before, New: w.Get(key)})
			equal(t, "events", got, test.want)
		})
	}
}
