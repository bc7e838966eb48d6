package controllerruntime_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// dated are the times in annotations of a ConfigMap.
type dated struct {
	corev1.ConfigMap
	writer client.Client
}

// at returns the time under a name, the zero time if there is none.
func (d *dated) at(name string) time.Time {
	at, _ := time.Parse(time.RFC3339, d.Annotations[name])
	return at
}

// note writes the time under a name, with what else has changed.
func (d *dated) note(ctx context.Context, name string) (ctrl.Result, error) {
	metav1.SetMetaDataAnnotation(&d.ObjectMeta, name, time.Now().UTC().Format(time.RFC3339))
	return ctrl.Result{}, d.writer.Update(ctx, &d.ConfigMap)
}

// dating is a controller of ConfigMaps with times.
func dating(reconciles func(context.Context, *dated) (ctrl.Result, error)) controllerruntime.Option {
	return controllerruntime.Reconciler("dating", func(c client.Client) reconcile.Reconciler {
		return reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
			d := dated{writer: c}
			if err := c.Get(ctx, req.NamespacedName, &d.ConfigMap); err != nil {
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			return reconciles(ctx, &d)
		})
	}, controllerruntime.For(&corev1.ConfigMap{}))
}

// rollsOut notes when the content of a ConfigMap has changed and when it was rolled out. What has changed since is
// rolled out again, or else is an error for ever.
func rollsOut(again bool) controllerruntime.Option {
	return dating(func(ctx context.Context, d *dated) (ctrl.Result, error) {
		switch {
		case d.Annotations["content"] != d.Data["content"]:
			metav1.SetMetaDataAnnotation(&d.ObjectMeta, "content", d.Data["content"])
			return d.note(ctx, "changed")
		case d.Annotations["rolled"] == "", again && d.at("changed").After(d.at("rolled")):
			return d.note(ctx, "rolled")
		case d.at("changed").After(d.at("rolled")):
			return ctrl.Result{}, errors.New("cannot be rolled out again")
		}
		return ctrl.Result{}, nil
	})
}

// withContent returns a ConfigMap with a content.
func withContent(content string) *corev1.ConfigMap {
	m := configMap("a", nil)
	m.Data = map[string]string{"content": content}
	return m
}

// TestWrittenTimes: where controllers compare times in objects, they are searched seconds apart as well. What is all
// the same in one second, and for ever in a world whose clock stands still, is over in the next one.
func TestWrittenTimes(t *testing.T) {
	long(t)
	edit := controllerruntime.Scenario(controllerruntime.Change("edit", withContent("1"), func(m *corev1.ConfigMap) { m.Data["content"] = "2" }).OnceSettled())
	for name, test := range map[string]struct {
		option  controllerruntime.Option
		options orrery.Options
		want    core.Verdict
		// says is what a finding or a reason says, and most how many steps the finding has at most: what goes on for
		// ever in later seconds only is seen to do so when these are used up.
		says string
		most int
	}{
		"what changed later is refused":     {rollsOut(false), orrery.Options{}, core.Violated, "cannot be rolled out again", 6},
		"what changed later comes again":    {rollsOut(true), orrery.Options{}, core.Holds, "", 0},
		"and no time is apart in each call": {rollsOut(true), orrery.Options{Granularity: orrery.PerCall}, core.Inconclusive, "where each call is a step, all of these are the same", 0},
		"until it is later": {dating(func(ctx context.Context, d *dated) (ctrl.Result, error) {
			switch {
			case d.Annotations["changed"] == "":
				return d.note(ctx, "changed")
			case !d.at("restarted").After(d.at("changed")):
				return d.note(ctx, "restarted")
			}
			return ctrl.Result{}, nil
		}), orrery.Options{}, core.Holds, "", 0},
		"until it is earlier": {dating(func(ctx context.Context, d *dated) (ctrl.Result, error) {
			switch {
			case d.Annotations["changed"] == "":
				return d.note(ctx, "changed")
			case d.Annotations["restarted"] == "" || d.at("restarted").After(d.at("changed")):
				return d.note(ctx, "restarted")
			}
			return ctrl.Result{}, nil
		}), orrery.Options{}, core.Violated, "never stops changing", 52},
		"the last one": {dating(func(ctx context.Context, d *dated) (ctrl.Result, error) {
			for _, name := range []string{"one", "other"} {
				if d.Annotations[name] == "" {
					return d.note(ctx, name)
				}
				if last := d.at("last"); d.at(name).After(last) {
					metav1.SetMetaDataAnnotation(&d.ObjectMeta, "last", d.Annotations[name])
					return ctrl.Result{}, d.writer.Update(ctx, &d.ConfigMap)
				}
			}
			return ctrl.Result{}, nil
		}), orrery.Options{}, core.Holds, "", 0},
		"a fight goes on": {dating(func(ctx context.Context, d *dated) (ctrl.Result, error) {
			if d.at("on").After(d.at("off")) {
				return d.note(ctx, "off")
			}
			return d.note(ctx, "on")
		}), orrery.Options{}, core.Violated, "never stops changing", 6},
		"too many": {dating(func(ctx context.Context, d *dated) (ctrl.Result, error) {
			if n, _ := strconv.Atoi(d.Data["count"]); n < 60 {
				d.Data["count"] = strconv.Itoa(n + 1)
				return d.note(ctx, []string{"even", "odd"}[n%2])
			}
			if d.at("even").After(d.at("odd")) {
				return ctrl.Result{}, errors.New("cannot be")
			}
			return ctrl.Result{}, nil
		}), orrery.Options{}, core.Inconclusive, "More than 50 times are written one after the other", 0},
	} {
		t.Run(name, func(t *testing.T) {
			options := []controllerruntime.Option{test.option, controllerruntime.ObjectValues(withContent("1"))}
			if strings.HasPrefix(name, "what changed") {
				options = append(options, edit)
			}
			system := controllerruntime.ForTest(t, newScheme(), options...)
			system.Properties = properties.Convergent()
			result, err := orrery.Run(t.Context(), system, test.options)
			if err != nil {
				t.Fatal(err)
			}
			report := result.Report
			var said []string
			for _, finding := range report.Findings {
				if said = append(said, finding.Summary); finding.Steps > test.most {
					t.Errorf("finding %q has %d steps", finding.Summary, finding.Steps)
				}
			}
			if said = append(said, report.Reasons...); report.Verdict != test.want || test.says != "" && !slices.ContainsFunc(said, func(text string) bool { return strings.Contains(text, test.says) }) {
				t.Errorf("%s: %q, want %s: %q", report.Verdict, said, test.want, test.says)
			}
			happensAgain(t, system, test.options, &report)
		})
	}
}

// newcomers labels ConfigMaps that were created since it was started.
type newcomers struct {
	client.Client
	Started time.Time
}

// Reconcile implements [reconcile.Reconciler].
func (r *newcomers) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var m corev1.ConfigMap
	if err := r.Get(ctx, req.NamespacedName, &m); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if m.CreationTimestamp.Time.Before(r.Started.Truncate(time.Second)) || m.Labels["new"] != "" {
		return ctrl.Result{}, nil
	}
	m.Labels = map[string]string{"new": "yes"}
	return ctrl.Result{}, r.Update(ctx, &m)
}

// TestStartedBefore: what is created once a controller is at work is younger than its process. Where that crashes, and
// is younger itself, it is not known when it was started.
func TestStartedBefore(t *testing.T) {
	for crashes, want := range []core.Verdict{core.Holds, core.Inconclusive} {
		system := controllerruntime.ForTest(t, newScheme(),
			controllerruntime.Reconciler("newcomers", func(c client.Client) reconcile.Reconciler {
				return &newcomers{Client: c, Started: time.Now()}
			}, controllerruntime.For(&corev1.ConfigMap{})),
			controllerruntime.ObjectValues(configMap("a", nil)),
			controllerruntime.Scenario(controllerruntime.Create(configMap("b", nil))),
		)
		system.Properties = properties.Convergent()
		result, err := orrery.Run(t.Context(), system, orrery.Options{Crashes: crashes})
		if err != nil {
			t.Fatal(err)
		}
		if result.Report.Verdict != want || result.Report.Outcomes != 2 {
			t.Errorf("%d crashes: %s with %d outcomes: %v", crashes, result.Report.Verdict, result.Report.Outcomes, result.Report.Reasons)
		}
	}
}
