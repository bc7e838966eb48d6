package controllerruntime_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

func TestPlayers(t *testing.T) {
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: "c", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: "n"}},
	}}
	w := newWorld(t,
		controllerruntime.Setup(setupWidgets),
		controllerruntime.ObjectValues(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, owned),
		controllerruntime.GarbageCollection(),
		controllerruntime.NamespaceDeletion(&corev1.Pod{}))
	equal(t, "kinds that are collected", w.strategy("garbage-collector").Describe().Watches,
		[]core.Kind{"ConfigMap", "Deployment.apps", "Namespace", "Widget.example.org"})
	equal(t, "kinds that namespaces are emptied of", w.strategy("namespace-controller").Describe().Watches,
		[]core.Kind{"Namespace", "ConfigMap", "Deployment.apps", "Pod", "Widget.example.org"})
	equal(t, "what is not checked", w.system.Surroundings, []string{"garbage-collector", "namespace-controller"})
}

// TestVolumeProtection deletes a claim: it is kept until the protector has looked.
func TestVolumeProtection(t *testing.T) {
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	w := newWorld(t, controllerruntime.VolumeProtection(), controllerruntime.ObjectValues(claim), using(func(ctx context.Context, mgr ctrl.Manager) error {
		if err := mgr.GetClient().Delete(ctx, claim.DeepCopy()); err != nil {
			return err
		}
		left := &corev1.PersistentVolumeClaim{}
		if err := mgr.GetAPIReader().Get(ctx, client.ObjectKeyFromObject(claim), left); err != nil {
			return err
		}
		if left.DeletionTimestamp == nil || len(left.Finalizers) != 1 {
			t.Errorf("the claim that is left is %+v", left.ObjectMeta)
		}
		return nil
	}))
	if err := use(w); err != nil {
		t.Error(err)
	}
	equal(t, "kinds that the protector watches", w.strategy("volume-protector").Describe().Watches,
		[]core.Kind{"PersistentVolume", "PersistentVolumeClaim", "Pod"})
}

func TestPlayersOfUnknownKinds(t *testing.T) {
	for _, option := range []controllerruntime.Option{
		controllerruntime.GarbageCollection(&metav1.PartialObjectMetadata{}),
		controllerruntime.NamespaceDeletion(&metav1.PartialObjectMetadata{}),
	} {
		_, err := controllerruntime.New(newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.Setup(setupWidgets), option)
		if err == nil || !strings.Contains(err.Error(), "garbage collection: ") && !strings.Contains(err.Error(), "namespace deletion: ") {
			t.Errorf("got %v", err)
		}
	}
}

func TestChoicesOfTheAPIServer(t *testing.T) {
	w := newWorld(t, controllerruntime.APIServer(kube.StrictNamespaces()), using(func(ctx context.Context, mgr ctrl.Manager) error {
		return mgr.GetClient().Create(ctx, widget("a", 1))
	}))
	if err := use(w); !apierrors.IsNotFound(err) {
		t.Errorf("a create in a namespace that is not there: %v", err)
	}
}
