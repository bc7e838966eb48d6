package analysis

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/record/live"
)

// IdleController counts the reconciles of a controller that changed nothing, and did not fail.
type IdleController struct {
	Controller string `json:"controller"`
	Reconciles int    `json:"reconciles"`
	Failed     int    `json:"failed"`
	Idle       int    `json:"idle"`
	// For is how long the idle ones took, and Calls how many live calls they made.
	For   time.Duration `json:"for_ns"`
	Calls int           `json:"calls"`
	// NoOps are writes, of all reconciles, that changed nothing.
	NoOps int `json:"no_ops"`
	// Woken says what woke the idle ones, the most frequent first. What woke one for several reasons counts for each.
	Woken []IdleCause `json:"woken"`
}

// IdleCause is what woke idle reconciles.
type IdleCause struct {
	Cause string `json:"cause"`
	Times int    `json:"times"`
}

// Idle counts the reconciles that changed nothing, by controller.
func Idle(sources []Source) ([]IdleController, Notes, error) {
	controllers := map[string]*IdleController{}
	causes := map[string]map[string]int{}
	var events recent
	notes, err := read(sources, visitor{
		entry: func(p *process, entry live.Entry) error {
			if e, ok := entry.(live.Event); ok {
				events.add(e.N, Woken{By: live.ByEvent, Event: e.Type, Object: pointer(p.version(e.Object))})
			}
			return nil
		},
		reconcile: func(p *process, r *Reconcile) error {
			c := controllers[r.Begin.Controller]
			if c == nil {
				c = &IdleController{Controller: r.Begin.Controller, Woken: []IdleCause{}}
				controllers[c.Controller], causes[c.Controller] = c, map[string]int{}
			}
			c.Reconciles++
			live := 0
			for _, call := range r.Calls {
				if call.Writes() && !call.changed() {
					c.NoOps++
				}
				if !call.Cached {
					live++
				}
			}
			switch {
			case r.Done == nil:
			case r.Done.Error != "" || r.Done.Panicked:
				c.Failed++
			case !r.wrote():
				c.Idle++
				c.For += r.took()
				c.Calls += live
				for _, cause := range causesOf(showReconcile(p, r, events.known)) {
					causes[c.Controller][cause]++
				}
			}
			return nil
		},
		ends: func(*process) error {
			events = recent{}
			return nil
		},
	})
	all := []IdleController{}
	for name, c := range controllers {
		for cause, times := range causes[name] {
			c.Woken = append(c.Woken, IdleCause{cause, times})
		}
		slices.SortFunc(c.Woken, func(a, b IdleCause) int { return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(a.Cause, b.Cause)) })
		all = append(all, *c)
	}
	slices.SortFunc(all, func(a, b IdleController) int {
		return cmp.Or(cmp.Compare(b.For, a.For), cmp.Compare(a.Controller, b.Controller))
	})
	return all, notes, err
}

// causesOf returns what woke a reconcile, without which object it was.
func causesOf(s Shown) []string {
	if len(s.Woken) == 0 {
		return []string{"not recorded"}
	}
	var all []string
	for _, w := range s.Woken {
		cause := w.String()
		if w.Object != nil {
			cause = w.Event + " " + string(w.Object.Kind)
		}
		if !slices.Contains(all, cause) {
			all = append(all, cause)
		}
	}
	return all
}

// Text writes a controller over some lines.
func (c IdleController) Text(w io.Writer) {
	fmt.Fprintf(w, "%s: %d of %d reconciles changed nothing; they took %s and %d live calls", clean(c.Controller), c.Idle, c.Reconciles, Duration(c.For), c.Calls)
	if c.Failed > 0 {
		fmt.Fprintf(w, "; %d others failed", c.Failed)
	}
	fmt.Fprintln(w)
	for _, cause := range c.Woken {
		fmt.Fprintf(w, "    %6d  %s\n", cause.Times, clean(cause.Cause))
	}
	if c.NoOps > 0 {
		fmt.Fprintf(w, "    %6d  writes changed nothing\n", c.NoOps)
	}
}

// Episode is how long an object took to converge: from what woke its controller to the end of the last reconcile that
// changed something or failed, before one that did neither.
type Episode struct {
	Process    string        `json:"process,omitempty"`
	Controller string        `json:"controller"`
	Request    string        `json:"request"`
	At         time.Duration `json:"at_ns"`
	Took       time.Duration `json:"took_ns"`
	// Reconciles is how many there were, Failed how many of them returned an error, Working how long they took, Calling
	// how much of that were calls, and Waiting how long requests were ready in the queue or waiting for another try.
	Reconciles int           `json:"reconciles"`
	Failed     int           `json:"failed"`
	Working    time.Duration `json:"working_ns"`
	Calling    time.Duration `json:"calling_ns"`
	Waiting    time.Duration `json:"waiting_ns"`
	// Unfinished tells that the recording ends before that.
	Unfinished bool `json:"unfinished,omitempty"`
}

// Slow returns the episodes that took the longest, so many of them.
func Slow(sources []Source, limit int) ([]Episode, Notes, error) {
	slowest := []Episode{}
	open := map[[2]string]*Episode{}
	keep := func(e Episode) {
		e.Waiting = max(0, e.Took-e.Working)
		i, _ := slices.BinarySearchFunc(slowest, e, func(a, b Episode) int { return cmp.Compare(b.Took, a.Took) })
		if slowest = slices.Insert(slowest, i, e); len(slowest) > limit {
			slowest = slowest[:limit]
		}
	}
	notes, err := read(sources, visitor{
		reconcile: func(p *process, r *Reconcile) error {
			which := [2]string{r.Begin.Controller, r.Begin.Request}
			e := open[which]
			failed := r.Done != nil && (r.Done.Error != "" || r.Done.Panicked)
			active := r.Done != nil && (r.wrote() || failed || r.Done.Requeue)
			if !active {
				if e != nil {
					keep(*e)
					delete(open, which)
				}
				return nil
			}
			if e == nil {
				e = &Episode{Process: p.label, Controller: r.Begin.Controller, Request: r.Begin.Request, At: r.Begin.At - r.Begin.Waited}
				open[which] = e
			}
			e.Reconciles++
			if failed {
				e.Failed++
			}
			e.Working += r.took()
			for _, c := range r.Calls {
				e.Calling += c.Took
			}
			e.Took = r.Done.At - e.At
			return nil
		},
		ends: func(*process) error {
			var left []*Episode
			for _, e := range open {
				left = append(left, e)
			}
			slices.SortFunc(left, func(a, b *Episode) int {
				return cmp.Or(strings.Compare(a.Controller, b.Controller), strings.Compare(a.Request, b.Request))
			})
			for _, e := range left {
				e.Unfinished = true
				keep(*e)
			}
			clear(open)
			return nil
		},
	})
	return slowest, notes, err
}

// Text writes an episode over two lines.
func (e Episode) Text(w io.Writer) {
	fmt.Fprintf(w, "%9s  %s %s", Duration(e.Took), clean(e.Controller), clean(e.Request))
	if e.Process != "" {
		fmt.Fprintf(w, " in %s", clean(e.Process))
	}
	unfinished := ""
	if e.Unfinished {
		unfinished = ", and more that is not recorded"
	}
	fmt.Fprintf(w, ", from %s\n           %d reconciles, %d failed: %s at work (%s in calls), %s waiting%s\n",
		Moment(e.At), e.Reconciles, e.Failed, Duration(e.Working), Duration(e.Calling), Duration(e.Waiting), unfinished)
}
