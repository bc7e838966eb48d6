package conformance

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// write is a kind of write that controllers make.
type write struct {
	name string
	// prepare does what must be done before the first write in a namespace.
	prepare func(ctx context.Context, c client.Client, namespace string) (do writing, err error)
}

// writing is a write that is made again and again: n says how often it was made before.
// What it returns undoes it, nil if nothing has to be undone.
type writing func(ctx context.Context, n int) (undo func() error, err error)

// writes are the kinds of writes whose cost is measured.
func writes() []write {
	data := func(c *corev1.ConfigMap, n int) { c.Data = map[string]string{"n": fmt.Sprint(n), "other": "same"} }
	configMap := func() *corev1.ConfigMap {
		return &corev1.ConfigMap{Data: map[string]string{"n": "first", "other": "same"}}
	}
	scaled := func(d *appsv1.Deployment, n int) { *d.Spec.Replicas = int32(n) }
	rolled := func(d *appsv1.Deployment, n int) {
		d.Status.Replicas, d.Status.ObservedGeneration = int32(n), int64(n)
	}
	ran := func(j *batchv1.Job, n int) { j.Status.Active = int32(n) }
	noted := func(w *unstructured.Unstructured, n int) { set(w, fmt.Sprint(n), "spec", "note") }
	seen := func(w *unstructured.Unstructured, n int) { set(w, int64(n), "status", "observedGeneration") }
	return []write{
		{"ConfigMap/create", creating(configMap)},
		{"ConfigMap/update", updating(configMap, data)},
		{"ConfigMap/merge-patch", patching(configMap, data)},
		{"ConfigMap/apply", applying(configMap, data)},
		{"ConfigMap/delete", deleting(configMap)},
		{"Pod/create", creating(newPod)},
		{"Deployment/create", creating(newDeployment)},
		{"Deployment/update", updating(newDeployment, scaled)},
		{"Deployment/update-status", updatingStatus(newDeployment, rolled)},
		{"Deployment/merge-patch", patching(newDeployment, scaled)},
		{"Deployment/apply", applying(newDeployment, scaled)},
		{"Job/create", creating(newJob)},
		{"Job/update-status", updatingStatus(newJob, ran)},
		{"Widget/create", creating(newWidget)},
		{"Widget/update", updating(newWidget, noted)},
		{"Widget/update-status", updatingStatus(newWidget, seen)},
		{"Widget/merge-patch", patching(newWidget, noted)},
		{"Widget/apply", applying(newWidget, noted)},
	}
}

func set(object *unstructured.Unstructured, value any, fields ...string) {
	if err := unstructured.SetNestedField(object.Object, value, fields...); err != nil {
		panic(fmt.Sprintf("conformance: %v", err))
	}
}

func podTemplate(policy corev1.RestartPolicy) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "x"}},
		Spec: corev1.PodSpec{
			RestartPolicy: policy,
			Containers: []corev1.Container{{
				Name: "main", Image: "img:1", Args: []string{"--serve"},
				Env:   []corev1.EnvVar{{Name: "MODE", Value: "fast"}},
				Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 80}},
			}},
		},
	}
}

func newPod() *corev1.Pod {
	template := podTemplate(corev1.RestartPolicyAlways)
	return &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
}

func newDeployment() *appsv1.Deployment {
	template, replicas := podTemplate(corev1.RestartPolicyAlways), int32(1)
	return &appsv1.Deployment{Spec: appsv1.DeploymentSpec{
		Replicas: &replicas,
		Selector: &metav1.LabelSelector{MatchLabels: template.Labels},
		Template: template,
	}}
}

func newJob() *batchv1.Job {
	return &batchv1.Job{Spec: batchv1.JobSpec{Template: podTemplate(corev1.RestartPolicyNever)}}
}

// newWidget is a custom resource whose schema has defaults, lists that are sets and maps,
// and rules in CEL.
func newWidget() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: tree{
		"apiVersion": "conformance.example.com/v1",
		"kind":       "Widget",
		"spec":       tree{"maker": "me", "tags": []any{"a", "b"}, "ports": []any{tree{"name": "http"}, tree{"name": "tls", "number": int64(443)}}},
	}}
}

// named puts an object into a namespace.
func named[T client.Object](object T, namespace, name string) T {
	object.SetNamespace(namespace)
	object.SetName(name)
	object.SetLabels(map[string]string{"app": "x"})
	return object
}

// creating makes new objects.
func creating[T client.Object](base func() T) func(context.Context, client.Client, string) (writing, error) {
	return func(_ context.Context, c client.Client, namespace string) (writing, error) {
		return func(ctx context.Context, n int) (func() error, error) {
			object := named(base(), namespace, fmt.Sprintf("created-%d", n))
			return func() error { return remove(ctx, c, object) }, c.Create(ctx, object)
		}, nil
	}
}

// deleting deletes the object that is there, which is then made again.
func deleting[T client.Object](base func() T) func(context.Context, client.Client, string) (writing, error) {
	return func(ctx context.Context, c client.Client, namespace string) (writing, error) {
		create := func() error { return c.Create(ctx, named(base(), namespace, "deleted")) }
		return func(ctx context.Context, _ int) (func() error, error) {
			return create, remove(ctx, c, named(base(), namespace, "deleted"))
		}, create()
	}
}

func remove(ctx context.Context, c client.Client, object client.Object) error {
	return c.Delete(ctx, object, client.GracePeriodSeconds(0), client.PropagationPolicy(metav1.DeletePropagationBackground))
}

// changing makes an object, and changes what the client last got of it in some way.
func changing[T client.Object](name string, base func() T, change func(T, int), send func(context.Context, client.Client, T, T) error) func(context.Context, client.Client, string) (writing, error) {
	return func(ctx context.Context, c client.Client, namespace string) (writing, error) {
		object := named(base(), namespace, name)
		err := c.Create(ctx, object)
		return func(ctx context.Context, n int) (func() error, error) {
			before := object.DeepCopyObject().(T)
			change(object, n)
			return nil, send(ctx, c, object, before)
		}, err
	}
}

func updating[T client.Object](base func() T, change func(T, int)) func(context.Context, client.Client, string) (writing, error) {
	return changing("updated", base, change, func(ctx context.Context, c client.Client, object, _ T) error { return c.Update(ctx, object) })
}

func updatingStatus[T client.Object](base func() T, change func(T, int)) func(context.Context, client.Client, string) (writing, error) {
	return changing("observed", base, change, func(ctx context.Context, c client.Client, object, _ T) error { return c.Status().Update(ctx, object) })
}

func patching[T client.Object](base func() T, change func(T, int)) func(context.Context, client.Client, string) (writing, error) {
	return changing("patched", base, change, func(ctx context.Context, c client.Client, object, before T) error {
		return c.Patch(ctx, object, client.MergeFrom(before))
	})
}

// applying applies an object in full, from the first time on.
func applying[T client.Object](base func() T, change func(T, int)) func(context.Context, client.Client, string) (writing, error) {
	return func(_ context.Context, c client.Client, namespace string) (writing, error) {
		return func(ctx context.Context, n int) (func() error, error) {
			object := named(base(), namespace, "applied")
			change(object, n)
			fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
			if err != nil {
				return nil, err
			}
			wanted := &unstructured.Unstructured{Object: fields}
			kind, err := c.GroupVersionKindFor(object)
			if err != nil {
				return nil, err
			}
			wanted.SetGroupVersionKind(kind)
			unstructured.RemoveNestedField(fields, "status")
			unstructured.RemoveNestedField(fields, "metadata", "creationTimestamp")
			return nil, c.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted), client.FieldOwner("bench"))
		}, nil
	}
}
