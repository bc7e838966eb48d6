package clientgo_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"

	"github.com/orrery-dev/orrery/adapters/clientgo"
)

// errIgnored has a mirror ignore a ConfigMap.
var errIgnored = errors.New("ignored")

// mirror is a controller as client-go's own documentation writes them. It keeps a Secret with the data of each
// ConfigMap.
type mirror struct {
	client     kubernetes.Interface
	configMaps corelisters.ConfigMapLister
	secrets    corelisters.SecretLister
	synced     []cache.InformerSynced
	queue      workqueue.TypedRateLimitingInterface[string]
	recorder   record.EventRecorder

	// first is the first ConfigMap that was seen, where that is remembered.
	first string
	// sabotage runs at the start of each sync.
	sabotage func(m *mirror, configMap *corev1.ConfigMap) error
}

func newMirror(ctx context.Context, client kubernetes.Interface, factory informers.SharedInformerFactory) *mirror {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	configMaps, secrets := factory.Core().V1().ConfigMaps(), factory.Core().V1().Secrets()
	m := &mirror{
		client:     client,
		configMaps: configMaps.Lister(),
		secrets:    secrets.Lister(),
		synced:     []cache.InformerSynced{configMaps.Informer().HasSynced, secrets.Informer().HasSynced},
		queue:      workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
		recorder:   broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "mirror"}),
	}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    m.enqueue,
		UpdateFunc: func(_, object any) { m.enqueue(object) },
		DeleteFunc: m.enqueue,
	}
	for _, informer := range []cache.SharedIndexInformer{configMaps.Informer(), secrets.Informer()} {
		if _, err := informer.AddEventHandlerWithResyncPeriod(handler, time.Minute); err != nil {
			panic(err)
		}
	}
	return m
}

func (m *mirror) enqueue(object any) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
	if err != nil {
		utilruntime.HandleError(err)
		return
	}
	m.queue.Add(key)
}

func (m *mirror) Run(ctx context.Context, workers int) error {
	defer utilruntime.HandleCrash()
	defer m.queue.ShutDown()
	if !cache.WaitForCacheSync(ctx.Done(), m.synced...) {
		return fmt.Errorf("failed to wait for caches to sync")
	}
	for range workers {
		go wait.UntilWithContext(ctx, m.work, time.Second)
	}
	<-ctx.Done()
	return nil
}

func (m *mirror) work(ctx context.Context) {
	for m.workOnNext(ctx) {
	}
}

func (m *mirror) workOnNext(ctx context.Context) bool {
	key, quit := m.queue.Get()
	if quit {
		return false
	}
	defer m.queue.Done(key)
	if err := m.sync(ctx, key); err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "Error syncing")
		m.queue.AddRateLimited(key)
		return true
	}
	m.queue.Forget(key)
	return true
}

func (m *mirror) sync(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	configMap, err := m.configMaps.ConfigMaps(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		err := m.client.CoreV1().Secrets(namespace).Delete(ctx, name, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	if err != nil {
		return err
	}
	if m.sabotage != nil {
		switch err := m.sabotage(m, configMap); {
		case errors.Is(err, errIgnored):
			return nil
		case err != nil:
			return err
		}
	}
	want := map[string][]byte{}
	for entry, text := range configMap.Data {
		want[entry] = []byte(text)
	}
	secret, err := m.secrets.Secrets(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		_, err := m.client.CoreV1().Secrets(namespace).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: want}, metav1.CreateOptions{})
		return err
	}
	if err != nil || maps.EqualFunc(secret.Data, want, func(a, b []byte) bool { return string(a) == string(b) }) {
		return err
	}
	changed := secret.DeepCopy()
	changed.Data = want
	_, err = m.client.CoreV1().Secrets(namespace).Update(ctx, changed, metav1.UpdateOptions{})
	m.recorder.Event(configMap, corev1.EventTypeNormal, "Mirrored", "the Secret was brought up to date")
	return err
}

// mirrored is the set-up of a mirror, with what is different from the usual one.
func mirrored(run bool, change func(*mirror)) clientgo.Option {
	return clientgo.Setup(setUpMirror(func(e *clientgo.Environment, m *mirror) error {
		if change != nil {
			change(m)
		}
		queue, err := clientgo.QueueIn[string](e, m)
		if err != nil {
			return err
		}
		if run {
			clientgo.Run(e, "mirror", m, queue, func(ctx context.Context) error { return m.Run(ctx, 2) })
		} else {
			clientgo.Sync(e, "mirror", m, queue, m.sync)
		}
		return nil
	}))
}

// setUpMirror makes a mirror, and has it registered.
func setUpMirror(register func(*clientgo.Environment, *mirror) error) func(*clientgo.Environment) error {
	return func(e *clientgo.Environment) error {
		client, err := kubernetes.NewForConfig(e.Config())
		if err != nil {
			return err
		}
		factory := informers.NewSharedInformerFactory(client, time.Minute)
		if err := e.Fill(factory); err != nil {
			return err
		}
		m := newMirror(e.Context(), client, factory)
		factory.Start(e.Context().Done())
		return register(e, m)
	}
}

func configMap(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Data: map[string]string{"value": value}}
}
