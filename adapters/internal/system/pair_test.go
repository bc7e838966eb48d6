package system_test

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery/adapters/clientgo"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/internal/system"
)

// objects is what a controller of these tests has of the cluster: caches and a client, of either library.
type objects interface {
	configMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error)
	secret(ctx context.Context, namespace, name string) (*corev1.Secret, error)
	// with returns the names of the ConfigMaps that an index finds by a value.
	with(ctx context.Context, value string) ([]string, error)
	createSecret(context.Context, *corev1.Secret) error
	updateSecret(context.Context, *corev1.Secret) error
	updateConfigMap(context.Context, *corev1.ConfigMap) error
}

// index is the name of the index that [objects] are asked for.
const index = "index"

// controller is a controller that can be made with either library. Objects are enqueued under their own names.
type controller struct {
	name                string
	configMaps, secrets bool
	// indexed is the entry of ConfigMaps that they are indexed by, empty for none.
	indexed string
	sync    func(ctx context.Context, o objects, namespace, name string) error
}

// managed are the objects of a manager.
type managed struct{ client.Client }

func (m managed) configMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error) {
	found := &corev1.ConfigMap{}
	return found, m.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, found)
}

func (m managed) secret(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	found := &corev1.Secret{}
	return found, m.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, found)
}

func (m managed) with(ctx context.Context, value string) (names []string, err error) {
	var found corev1.ConfigMapList
	err = m.List(ctx, &found, client.MatchingFields{index: value})
	for _, o := range found.Items {
		names = append(names, o.Name)
	}
	return names, err
}

func (m managed) createSecret(ctx context.Context, s *corev1.Secret) error { return m.Create(ctx, s) }
func (m managed) updateSecret(ctx context.Context, s *corev1.Secret) error { return m.Update(ctx, s) }
func (m managed) updateConfigMap(ctx context.Context, o *corev1.ConfigMap) error {
	return m.Update(ctx, o)
}

// register registers the controller on a manager.
func (c controller) register(mgr ctrl.Manager) error {
	o := managed{mgr.GetClient()}
	if c.indexed != "" {
		if err := mgr.GetFieldIndexer().IndexField(context.Background(), &corev1.ConfigMap{}, index, func(o client.Object) []string {
			return []string{o.(*corev1.ConfigMap).Data[c.indexed]}
		}); err != nil {
			return err
		}
	}
	b := ctrl.NewControllerManagedBy(mgr).Named(c.name)
	if c.configMaps {
		b = b.Watches(&corev1.ConfigMap{}, &handler.EnqueueRequestForObject{})
	}
	if c.secrets {
		b = b.Watches(&corev1.Secret{}, &handler.EnqueueRequestForObject{})
	}
	return b.Complete(reconcile.Func(func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
		return ctrl.Result{}, c.sync(ctx, o, request.Namespace, request.Name)
	}))
}

// listed are the objects of informers.
type listed struct {
	kubernetes.Interface
	configMaps corelisters.ConfigMapLister
	secrets    corelisters.SecretLister
	indexer    cache.Indexer
}

func (l listed) configMap(_ context.Context, namespace, name string) (*corev1.ConfigMap, error) {
	found, err := l.configMaps.ConfigMaps(namespace).Get(name)
	return found.DeepCopy(), err
}

func (l listed) secret(_ context.Context, namespace, name string) (*corev1.Secret, error) {
	found, err := l.secrets.Secrets(namespace).Get(name)
	return found.DeepCopy(), err
}

func (l listed) with(_ context.Context, value string) (names []string, err error) {
	found, err := l.indexer.ByIndex(index, value)
	for _, o := range found {
		names = append(names, o.(*corev1.ConfigMap).Name)
	}
	return names, err
}

func (l listed) createSecret(ctx context.Context, s *corev1.Secret) error {
	_, err := l.CoreV1().Secrets(s.Namespace).Create(ctx, s, metav1.CreateOptions{})
	return err
}

func (l listed) updateSecret(ctx context.Context, s *corev1.Secret) error {
	_, err := l.CoreV1().Secrets(s.Namespace).Update(ctx, s, metav1.UpdateOptions{})
	return err
}

func (l listed) updateConfigMap(ctx context.Context, o *corev1.ConfigMap) error {
	_, err := l.CoreV1().ConfigMaps(o.Namespace).Update(ctx, o, metav1.UpdateOptions{})
	return err
}

// enqueuing is an event handler that adds objects to a queue.
func enqueuing(queue workqueue.TypedRateLimitingInterface[string]) cache.ResourceEventHandler {
	add := func(object any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
			queue.Add(key)
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, object any) { add(object) }, DeleteFunc: add}
}

// inform makes and registers the controller in an environment.
func (c controller) inform(e *clientgo.Environment) error {
	clients, err := kubernetes.NewForConfig(e.Config())
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(clients, time.Minute)
	if err := e.Fill(factory); err != nil {
		return err
	}
	configMaps, secrets := factory.Core().V1().ConfigMaps(), factory.Core().V1().Secrets()
	if c.indexed != "" {
		if err := configMaps.Informer().AddIndexers(cache.Indexers{index: func(o any) ([]string, error) {
			return []string{o.(*corev1.ConfigMap).Data[c.indexed]}, nil
		}}); err != nil {
			return err
		}
	}
	queue, err := clientgo.NewQueue[string](e)
	if err != nil {
		return err
	}
	if c.configMaps {
		if _, err := configMaps.Informer().AddEventHandler(enqueuing(queue)); err != nil {
			return err
		}
	}
	if c.secrets {
		if _, err := secrets.Informer().AddEventHandler(enqueuing(queue)); err != nil {
			return err
		}
	}
	o := listed{clients, configMaps.Lister(), secrets.Lister(), configMaps.Informer().GetIndexer()}
	clientgo.Sync(e, c.name, nil, queue, func(ctx context.Context, key string) error {
		namespace, name, err := cache.SplitMetaNamespaceKey(key)
		if err != nil {
			return err
		}
		return c.sync(ctx, o, namespace, name)
	})
	return nil
}

// library is what a controller is made with.
type library func(controller) system.Foreign

func managers(c controller) system.Foreign  { return controllerruntime.Setup(c.register) }
func informing(c controller) system.Foreign { return clientgo.Setup(c.inform) }

// copier keeps a Secret for each ConfigMap.
func copier() controller {
	return controller{name: "copier", configMaps: true, secrets: true, sync: func(ctx context.Context, o objects, namespace, name string) error {
		configMap, err := o.configMap(ctx, namespace, name)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err = o.secret(ctx, namespace, name); !apierrors.IsNotFound(err) {
			return err
		}
		err = o.createSecret(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Data:       map[string][]byte{"value": []byte(configMap.Data["value"])},
		})
		if apierrors.IsAlreadyExists(err) {
			return nil // a cache that is behind
		}
		return err
	}}
}

// sealer labels Secrets.
func sealer() controller {
	return controller{name: "sealer", secrets: true, sync: func(ctx context.Context, o objects, namespace, name string) error {
		secret, err := o.secret(ctx, namespace, name)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil || secret.Labels["sealed"] != "" {
			return err
		}
		secret.Labels = map[string]string{"sealed": "yes"}
		return o.updateSecret(ctx, secret)
	}}
}

// claimer claims ConfigMaps that nobody has claimed.
func claimer(name string) controller {
	return controller{name: name, configMaps: true, sync: func(ctx context.Context, o objects, namespace, called string) error {
		configMap, err := o.configMap(ctx, namespace, called)
		if err != nil || configMap.Data["owner"] != "" {
			return err
		}
		configMap.Data["owner"] = name
		return o.updateConfigMap(ctx, configMap)
	}}
}

// finder writes the names of the ConfigMaps that its index finds by "x" into those called after it.
func finder(name, indexed string) controller {
	return controller{name: name, configMaps: true, indexed: indexed, sync: func(ctx context.Context, o objects, namespace, called string) error {
		if called != name {
			return nil
		}
		configMap, err := o.configMap(ctx, namespace, called)
		if err != nil {
			return err
		}
		names, err := o.with(ctx, "x")
		found := ""
		for _, n := range names {
			found += n
		}
		if err != nil || configMap.Data["found"] == found {
			return err
		}
		configMap.Data = map[string]string{"found": found}
		return o.updateConfigMap(ctx, configMap)
	}}
}
