package scheduler

import (
	"context"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Scheduler finds a machine for each task. It decides in a loop of its own, one task after the other, and leaves it to a second controller to bind
// tasks: so the loop need not wait for the API server.
type Scheduler struct {
	client.Client
	// Live reads past the cache.
	Live    client.Reader
	Variant Variant

	mu sync.Mutex
	// queue are the tasks that wait for a decision, and unplaced those for which there was no machine.
	queue, unplaced []string
	// assumed are the machines that tasks are to get, until the cache shows that they have them.
	assumed map[string]string
	// filled holds a token when the queue is no longer empty, and decided gets the tasks to be bound.
	filled  chan struct{}
	decided chan event.GenericEvent
}

// NewScheduler returns a scheduler that has decided nothing.
func NewScheduler(mgr ctrl.Manager, variant Variant) *Scheduler {
	return &Scheduler{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Variant: variant,
		assumed: map[string]string{}, filled: make(chan struct{}, 1), decided: make(chan event.GenericEvent, 16),
	}
}

// Reconcile looks whether a task needs a machine.
func (s *Scheduler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var task Task
	err := s.Get(ctx, request.NamespacedName, &task)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil, task.Spec.Machine != "": // it is gone, or known to have its machine
		delete(s.assumed, request.Name)
		s.enqueue(s.unplaced...)
		s.unplaced = nil
	case s.assumed[request.Name] == "":
		s.enqueue(request.Name)
	}
	return ctrl.Result{}, nil
}

// enqueue puts tasks into the queue. s.mu is held.
func (s *Scheduler) enqueue(tasks ...string) {
	for _, task := range tasks {
		if !slices.Contains(s.queue, task) {
			s.queue = append(s.queue, task)
		}
	}
	if len(s.queue) == 0 {
		return
	}
	select {
	case s.filled <- struct{}{}:
	default:
	}
}

// Start decides on the tasks in the queue. It implements [manager.Runnable].
func (s *Scheduler) Start(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.filled:
		}
		for task := s.next(); task != ""; task = s.next() {
			if err := s.decide(ctx, task); err != nil {
				return err
			}
		}
	}
}

// next takes a task from the queue. It returns nothing if there is none.
func (s *Scheduler) next() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return ""
	}
	task := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	return task
}

// decide assumes that a task gets the first machine that is free, as far as the cache and what is assumed tell, and has it bound.
func (s *Scheduler) decide(ctx context.Context, task string) error {
	var tasks TaskList
	var machines MachineList
	if err := s.List(ctx, &tasks); err != nil {
		return err
	}
	if err := s.List(ctx, &machines); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.ContainsFunc(tasks.Items, func(t Task) bool { return t.Name == task && t.Spec.Machine == "" }) {
		return nil // it has one by now, or is gone
	}
	taken := map[string]bool{}
	for _, other := range tasks.Items {
		taken[other.Spec.Machine] = true
		if s.Variant != Forgetful {
			taken[s.assumed[other.Name]] = true
		}
	}
	free := slices.IndexFunc(machines.Items, func(m Machine) bool { return !taken[m.Name] })
	if free < 0 {
		if !slices.Contains(s.unplaced, task) {
			s.unplaced = append(s.unplaced, task)
		}
		return nil
	}
	s.assumed[task] = machines.Items[free].Name
	s.decided <- event.GenericEvent{Object: &Task{ObjectMeta: metav1.ObjectMeta{Name: task}}}
	return nil
}

// bind writes down which machine a task gets.
func (s *Scheduler) bind(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	s.mu.Lock()
	machine := s.assumed[request.Name]
	s.mu.Unlock()
	var task Task
	if err := s.Get(ctx, request.NamespacedName, &task); err != nil || machine == "" || task.Spec.Machine != "" {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if s.Variant >= Careful {
		if taken, err := s.taken(ctx, machine); err != nil || taken {
			return ctrl.Result{}, s.reconsider(request.Name, err)
		}
	}
	task.Spec.Machine = machine
	return ctrl.Result{}, s.Update(ctx, &task)
}

// taken reports whether a machine has a task, whatever the cache says.
func (s *Scheduler) taken(ctx context.Context, machine string) (bool, error) {
	var tasks TaskList
	err := s.Live.List(ctx, &tasks)
	return slices.ContainsFunc(tasks.Items, func(t Task) bool { return t.Spec.Machine == machine }), err
}

// reconsider has another decision made on a task, if nothing went wrong. The cache with which the first was made was old, so it is tempting to wait until
// it shows more: but it may do so by now.
func (s *Scheduler) reconsider(task string, err error) error {
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.assumed, task)
	if s.Variant == Patient {
		s.unplaced = append(s.unplaced, task)
		return nil
	}
	s.enqueue(task)
	return nil
}

// SetupWithManager registers both controllers and the loop.
func (s *Scheduler) SetupWithManager(mgr ctrl.Manager) error {
	if err := ctrl.NewControllerManagedBy(mgr).Named("scheduler").For(&Task{}).Complete(s); err != nil {
		return err
	}
	err := ctrl.NewControllerManagedBy(mgr).Named("binder").
		WatchesRawSource(source.Channel(s.decided, &handler.EnqueueRequestForObject{})).
		Complete(reconcile.Func(s.bind))
	if err != nil {
		return err
	}
	return mgr.Add(s)
}

var _ manager.Runnable = (*Scheduler)(nil)
