package controllerruntime_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// keeper makes a Secret for each ConfigMap, and notes its uid in an annotation, or in memory. It has nothing to do with
// a Secret that has another one.
type keeper struct {
	client.Client
	noted map[string]types.UID
	tells bool
}

func (r *keeper) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	owner := &corev1.ConfigMap{}
	if err := r.Get(ctx, req.NamespacedName, owner); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	noted := r.noted[req.Name]
	if r.tells {
		noted = types.UID(owner.Annotations["uid"])
	}
	child := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: req.Namespace, Name: req.Name}}
	err := r.Get(ctx, req.NamespacedName, child)
	if apierrors.IsNotFound(err) {
		if err := ctrl.SetControllerReference(owner, child, r.Scheme()); err != nil {
			return ctrl.Result{}, err
		}
		err = r.Create(ctx, child)
	}
	switch {
	case err != nil:
		return ctrl.Result{}, err
	case noted == "" && r.tells:
		owner.Annotations = map[string]string{"uid": string(child.UID)}
		return ctrl.Result{}, r.Update(ctx, owner)
	case noted == "":
		r.noted[req.Name] = child.UID
	case noted != child.UID:
		return ctrl.Result{}, fmt.Errorf("%s is not mine", child.Name)
	}
	return ctrl.Result{}, nil
}

// TestUIDsThatAreNoted has an object be deleted and made again whose uid somebody has noted, in an object or in memory:
// it has another one then.
func TestUIDsThatAreNoted(t *testing.T) {
	for _, tells := range []bool{true, false} {
		owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
		system, err := controllerruntime.New(scheme.Scheme, controllerruntime.Setup(func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(owner).Owns(&corev1.Secret{}).Named("keeper").Complete(&keeper{mgr.GetClient(), map[string]types.UID{}, tells})
		}), controllerruntime.ObjectValues(owner), controllerruntime.Scenario(controllerruntime.Delete(&corev1.Secret{ObjectMeta: owner.ObjectMeta})))
		if err != nil {
			t.Fatal(err)
		}
		system.Properties = properties.Convergent()
		result, err := orrery.Run(t.Context(), system, orrery.Options{})
		if err != nil || result.Report.Verdict != core.Violated || !strings.Contains(fmt.Sprint(result.Report.Findings), "a is not mine") {
			t.Fatalf("noted in an object: %t: %v\n%v", tells, err, result)
		}
	}
}

// worker marks each ConfigMap once, and remembers by its uid that it has.
type worker struct {
	client.Client
	done map[types.UID]bool
}

func (r *worker) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	object := &corev1.ConfigMap{}
	if err := r.Get(ctx, req.NamespacedName, object); err != nil || r.done[object.UID] {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if object.Labels["done"] == "" {
		object.Labels = map[string]string{"done": "yes"}
		if err := r.Update(ctx, object); err != nil {
			return ctrl.Result{}, err
		}
	}
	r.done[object.UID] = true
	return ctrl.Result{}, nil
}

// TestMemoryByUID has a controller remember objects by their uids: one that is created again is another one.
func TestMemoryByUID(t *testing.T) {
	object := func() *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
	}
	system, err := controllerruntime.New(scheme.Scheme, controllerruntime.Setup(func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).For(object()).Named("worker").Complete(&worker{mgr.GetClient(), map[types.UID]bool{}})
	}), controllerruntime.ObjectValues(object()), controllerruntime.InOrder(controllerruntime.Delete(object()), controllerruntime.Create(object())))
	if err != nil {
		t.Fatal(err)
	}
	system.Properties = properties.Convergent()
	result, err := orrery.Run(t.Context(), system, orrery.Options{})
	if err != nil || result.Report.Verdict != core.Holds {
		t.Errorf("%v\n%v", err, result)
	}
}

// generator makes a Secret with a generated name for each ConfigMap, and notes the name. It makes another one where
// that is gone, without a note of it: the defect.
type generator struct{ client.Client }

func (r *generator) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	owner := &corev1.ConfigMap{}
	if err := r.Get(ctx, req.NamespacedName, owner); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if noted := owner.Annotations["child"]; noted != "" {
		err := r.Get(ctx, types.NamespacedName{Namespace: req.Namespace, Name: noted}, &corev1.Secret{})
		if !apierrors.IsNotFound(err) {
			return ctrl.Result{}, err
		}
	}
	child := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: req.Namespace, GenerateName: req.Name + "-"}}
	if err := ctrl.SetControllerReference(owner, child, r.Scheme()); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.Create(ctx, child); err != nil || owner.Annotations["child"] != "" {
		return ctrl.Result{}, err
	}
	owner.Annotations = map[string]string{"child": child.Name}
	return ctrl.Result{}, r.Update(ctx, owner)
}

// TestGeneratedNamesThatAreNoted has an object with a generated name be deleted that somebody has noted: the one that
// is made then has another name, and is never found. Nothing would be wrong if it had the same one.
func TestGeneratedNamesThatAreNoted(t *testing.T) {
	long(t)
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
	removed := controllerruntime.Action{Name: "somebody deletes a Secret", Do: func(ctx context.Context, c client.Client) error {
		var all corev1.SecretList
		if err := c.List(ctx, &all); err != nil {
			return err
		}
		if len(all.Items) == 0 {
			return core.ErrNotEnabled
		}
		return c.Delete(ctx, &all.Items[0])
	}}
	system, err := controllerruntime.New(scheme.Scheme, controllerruntime.Setup(func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).For(owner).Owns(&corev1.Secret{}).Named("generator").Complete(&generator{mgr.GetClient()})
	}), controllerruntime.ObjectValues(owner), controllerruntime.Scenario(removed))
	if err != nil {
		t.Fatal(err)
	}
	system.Properties = properties.Convergent()
	result, err := orrery.Run(t.Context(), system, orrery.Options{MaxStates: 300})
	if err != nil || result.Report.Verdict != core.Violated {
		t.Errorf("%v\n%v", err, result)
	}
}
