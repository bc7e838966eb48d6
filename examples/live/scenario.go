package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	api "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/orrery-dev/orrery/examples/jobset/operator"
)

// scenarios are what can be recorded. Each returns a moment at which nobody was at work, and something is still to come.
func scenarios() map[string]func(*cluster) (string, error) {
	return map[string]func(*cluster) (string, error){
		"complete": func(l *cluster) (string, error) { return l.run(0, false, nil) },
		"restart":  func(l *cluster) (string, error) { return l.run(1, false, nil) },
		"restarts": func(l *cluster) (string, error) { return l.run(2, false, nil) },
		"delete":   func(l *cluster) (string, error) { return l.run(0, false, l.delete) },
		"killed":   func(l *cluster) (string, error) { return l.run(1, false, l.startAgain) },
		"lease":    func(l *cluster) (string, error) { return l.run(1, true, l.startAgain) },
	}
}

// run creates a JobSet, waits until its Jobs are there, has something happen, and lets the Jobs run to their end.
func (l *cluster) run(restarts int, lease bool, happens func() error) (string, error) {
	for range map[bool]int{false: 1, true: 2}[lease] {
		if err := l.start("jobset", lease, operator.Setup); err != nil {
			return "", err
		}
	}
	if err := l.user.Create(l, newJobSet("js1", restarts)); err != nil {
		return "", err
	}
	if err := l.until("there are two Jobs", func() (bool, error) { return l.jobs(2) }); err != nil {
		return "", err
	}
	time.Sleep(quiet)
	moment := time.Now().UTC().Format(time.RFC3339Nano)
	time.Sleep(quiet)
	if happens != nil {
		if err := happens(); err != nil {
			return "", err
		}
	}
	if err := l.start("jobs", false, func(mgr ctrl.Manager) error { return newJobs(mgr.GetClient()).SetupWithManager(mgr) }); err != nil {
		return "", err
	}
	if err := l.until("the JobSet is over", l.over); err != nil {
		return "", err
	}
	time.Sleep(quiet)
	return moment, nil
}

// quiet is how long it takes at most until nobody has anything to do any more.
const quiet = 400 * time.Millisecond

// startAgain ends the controllers of JobSet, or the first replica of them, and starts them again.
func (l *cluster) startAgain() error {
	if err := l.end(l.running[0]); err != nil {
		return err
	}
	if len(l.running) > 0 {
		return nil // another replica gets the lease
	}
	return l.start("jobset", false, operator.Setup)
}

// delete deletes a JobSet while its Jobs are there, as a user does.
func (l *cluster) delete() error {
	return l.user.Delete(l, newJobSet("js1", 0), client.PropagationPolicy(metav1.DeletePropagationBackground))
}

// jobs reports whether there are so many Jobs, none of which is about to be deleted.
func (l *cluster) jobs(n int) (bool, error) {
	var all batchv1.JobList
	if err := l.user.List(l, &all, client.InNamespace("default")); err != nil {
		return false, err
	}
	deleted := slices.ContainsFunc(all.Items, func(job batchv1.Job) bool { return !job.DeletionTimestamp.IsZero() })
	return len(all.Items) == n && !deleted, nil
}

// over reports whether the JobSet has come to its end, or is gone with its Jobs.
func (l *cluster) over() (bool, error) {
	js := &api.JobSet{}
	err := l.user.Get(l, client.ObjectKey{Namespace: "default", Name: "js1"}, js)
	if apierrors.IsNotFound(err) {
		return l.jobs(0)
	}
	return js.Status.TerminalState != "", err
}

// until waits until something is so, and plays the garbage collector meanwhile.
func (l *cluster) until(what string, so func() (bool, error)) error {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if err := l.collect(); err != nil {
			return err
		}
		done, err := so()
		switch {
		case err != nil:
			return err
		case done:
			return nil
		case l.Err() != nil:
			return l.Err()
		case time.Now().After(deadline):
			return fmt.Errorf("after a minute, it is not yet so that %s", what)
		}
		for _, p := range l.running {
			select {
			case err := <-p.ended:
				return errors.Join(errors.New("a manager has ended"), err)
			default:
			}
		}
	}
}

// collect plays the garbage collector for Jobs: it lets go what waits for dependents, of which there are none, and deletes what nobody owns any more.
func (l *cluster) collect() error {
	var all batchv1.JobList
	if err := l.collector.List(l, &all, client.InNamespace("default")); err != nil {
		return err
	}
	for _, job := range all.Items {
		base := job.DeepCopy()
		job.Finalizers = slices.DeleteFunc(job.Finalizers, func(f string) bool { return f == metav1.FinalizerDeleteDependents })
		if !job.DeletionTimestamp.IsZero() && len(job.Finalizers) < len(base.Finalizers) {
			if err := client.IgnoreNotFound(l.collector.Patch(l, &job, client.MergeFrom(base))); err != nil {
				return err
			}
			continue
		}
		if owner := metav1.GetControllerOf(&job); owner != nil && job.DeletionTimestamp.IsZero() {
			err := l.collector.Get(l, client.ObjectKey{Namespace: job.Namespace, Name: owner.Name}, &api.JobSet{})
			if apierrors.IsNotFound(err) {
				err = client.IgnoreNotFound(l.collector.Delete(l, &job, client.PropagationPolicy(metav1.DeletePropagationBackground)))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
