//go:build unix

package observe

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery/internal/cputime"
)

// jobsServer holds Jobs in memory: it is a cache, and the server that answers writes.
type jobsServer struct {
	client.Client // there are no other calls
	jobs          map[types.NamespacedName]*batchv1.Job
	version       int
	// wrote is called after a write, before it is answered.
	wrote func()
}

// Get implements client.Reader.
func (s *jobsServer) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	s.jobs[key].DeepCopyInto(o.(*batchv1.Job))
	return nil
}

// Update implements client.Writer.
func (s *jobsServer) Update(_ context.Context, o client.Object, _ ...client.UpdateOption) error {
	s.version++
	o.SetResourceVersion(strconv.Itoa(s.version))
	s.jobs[client.ObjectKeyFromObject(o)] = o.(*batchv1.Job).DeepCopy()
	if s.wrote != nil {
		s.wrote()
	}
	return nil
}

// newJob is a Job as a server has it.
func newJob(name string) *batchv1.Job {
	one, grace := int32(1), int64(30)
	labels := map[string]string{"jobset.sigs.k8s.io/jobset-name": name, "jobset.sigs.k8s.io/replicatedjob-name": "workers", "jobset.sigs.k8s.io/restart-attempt": "0", "jobset.sigs.k8s.io/job-index": "0"}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: "default", UID: types.UID("uid-" + name), ResourceVersion: "1", Generation: 1, CreationTimestamp: metav1.Unix(1_700_000_000, 0), Labels: labels, Annotations: labels,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "jobset.x-k8s.io/v1alpha2", Kind: "JobSet", Name: name, UID: "owner"}},
	}}
	pod := corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: &grace, DNSPolicy: corev1.DNSClusterFirst, SchedulerName: "default-scheduler", SecurityContext: &corev1.PodSecurityContext{}}
	for i := range 2 {
		pod.Containers = append(pod.Containers, corev1.Container{
			Name: fmt.Sprintf("container-%d", i), Image: "registry.example/worker:1", Args: []string{"--level=3", "--mode=fast"}, Env: []corev1.EnvVar{{Name: "LEVEL", Value: "3"}},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")}}, TerminationMessagePath: "/dev/termination-log", ImagePullPolicy: corev1.PullIfNotPresent,
		})
	}
	job.Spec = batchv1.JobSpec{
		Parallelism: &one, Completions: &one, BackoffLimit: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"batch.kubernetes.io/controller-uid": name}},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: labels}, Spec: pod},
	}
	for _, manager := range []string{"jobset", "kube-controller-manager"} {
		fields := &metav1.FieldsV1{}
		_ = fields.UnmarshalJSON([]byte(`{"f:metadata":{"f:annotations":{".":{},"f:jobset.sigs.k8s.io/jobset-name":{}},"f:labels":{".":{},"f:jobset.sigs.k8s.io/jobset-name":{}}},"f:spec":{"f:backoffLimit":{},"f:completions":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"container-0\"}":{".":{},"f:image":{}}}}}}}`)) // it takes whatever it gets
		job.ManagedFields = append(job.ManagedFields, metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "batch/v1", Time: &job.CreationTimestamp, FieldsType: "FieldsV1", FieldsV1: fields})
	}
	return job
}

// nowhere is a file of which only the size is known.
type nowhere struct{ bytes *int64 }

// Write implements io.Writer.
func (n nowhere) Write(p []byte) (int, error) { *n.bytes += int64(len(p)); return len(p), nil }

// Close implements io.Closer.
func (n nowhere) Close() error { return nil }

// reconciles has Jobs reconciled, each for an event of its last version: a cached read and an update. It returns what
// the process computed, and how much was recorded.
func reconciles(b *testing.B, off bool) (time.Duration, int64) {
	b.Helper()
	var bytes int64
	r := newRecorder(Options{Off: off, Open: func(int) (io.WriteCloser, error) { return nowhere{&bytes}, nil }})
	server := &jobsServer{jobs: map[types.NamespacedName]*batchv1.Job{}}
	c := observedClient{Client: server, recorder: r, reader: observedReader{server, r, scheme.Scheme, alwaysCached}}
	const jobs = 64
	var seen []*batchv1.Job
	for i := range jobs {
		job := newJob(fmt.Sprintf("job-%d", i))
		server.jobs[client.ObjectKeyFromObject(job)] = job
		seen = append(seen, job)
	}
	causes := newCauses[reconcile.Request](r, "jobs")
	queue := causes.observe(workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]()))
	handler := &observedHandler{toolscache.ResourceEventHandlerFuncs{UpdateFunc: func(_, o any) {
		queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o.(client.Object))})
	}}, r, scheme.Scheme, "jobs"}
	inner := reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		job := &batchv1.Job{}
		if err := c.Get(ctx, request.NamespacedName, job); err != nil {
			return reconcile.Result{}, err
		}
		job.Status.Active++
		job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionFalse, Reason: fmt.Sprint(job.Status.Active)}}
		return reconcile.Result{}, c.Update(ctx, job)
	})
	controller := &reconciling[reconcile.Request]{r, "jobs", inner, causes}
	runtime.GC()
	before := cputime.Used()
	for i := range b.N {
		which := i % jobs
		now := server.jobs[client.ObjectKeyFromObject(seen[which])]
		handler.OnUpdate(seen[which], now)
		seen[which] = now
		request, _ := queue.Get()
		if _, err := controller.Reconcile(b.Context(), request); err != nil {
			b.Fatal(err)
		}
		queue.Done(request)
		if i%500 == 499 {
			r.wake <- struct{}{} // the writer keeps up
			for len(r.wake) > 0 {
				runtime.Gosched()
			}
		}
	}
	queue.ShutDown()
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
	if !off && r.lost.Entries > 0 {
		b.Fatal("entries were dropped")
	}
	return cputime.Used() - before, bytes
}

// Scheme implements client.Client.
func (s *jobsServer) Scheme() *k8sruntime.Scheme { return scheme.Scheme }

// BenchmarkReconcile tells what recording a reconcile computes, without a server: an event, a cached read, and an
// update.
func BenchmarkReconcile(b *testing.B) {
	plain, _ := reconciles(b, true)
	recorded, bytes := reconciles(b, false)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64((recorded-plain).Nanoseconds())/float64(b.N)/1000, "cpu-µs-added/op")
	b.ReportMetric(float64(bytes)/float64(b.N), "bytes/op")
}
