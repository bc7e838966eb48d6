package controllerruntime_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// TestTimesInOutcomes has a user create a Service before or after a long time has passed, for which a controller waits. What another controller writes then
// is another outcome if it depends on that, and none if it is nothing but the time at which it was written.
func TestTimesInOutcomes(t *testing.T) {
	early := func() bool { return time.Now().Year() < 2010 }
	one := func(a, b string) string {
		if early() {
			return a
		}
		return b
	}
	annotate := func(text func(mine *corev1.Service) string) func(*corev1.Service) {
		return func(s *corev1.Service) { metav1.SetMetaDataAnnotation(&s.ObjectMeta, "seen", text(s)) }
	}
	at := func(layout string) func(*corev1.Service) {
		return annotate(func(*corev1.Service) string { return time.Now().UTC().Format(layout) })
	}
	for _, test := range []struct {
		name  string
		write func(*corev1.Service)
		// given are annotations of the Service that is there at the start, and user those that the user gives to the other one.
		given, user map[string]string
		differs     bool
		// said is a place that the report is to name.
		said string
	}{
		{name: "RFC 3339", write: at(time.RFC3339), said: "Service metadata.annotations.seen"},
		{name: "RFC 3339 with nanoseconds", write: at(time.RFC3339Nano)},
		{name: "RFC 3339 in a zone", write: annotate(func(*corev1.Service) string { return time.Now().In(time.FixedZone("", 3600)).Format(time.RFC3339) })},
		{name: "RFC 1123", write: at(time.RFC1123)},
		{name: "RFC 1123 with a zone in digits", write: at(time.RFC1123Z)},
		{name: "RFC 850", write: at(time.RFC850)},
		{name: "ANSI", write: at(time.ANSIC)},
		{name: "Unix", write: at(time.UnixDate)},
		{name: "a date with its time", write: at(time.DateTime)},
		{name: "as Go writes it", write: annotate(func(*corev1.Service) string { return time.Now().String() })},
		{name: "as Go writes it in UTC", write: annotate(func(*corev1.Service) string { return time.Now().UTC().String() })},
		{name: "seconds", write: annotate(func(*corev1.Service) string { return strconv.FormatInt(time.Now().Unix(), 10) }), said: "Service metadata.annotations.seen"},
		{name: "milliseconds", write: annotate(func(*corev1.Service) string { return strconv.FormatInt(time.Now().UnixMilli(), 10) })},
		{name: "nanoseconds", write: annotate(func(*corev1.Service) string { return strconv.FormatInt(time.Now().UnixNano(), 10) })},
		{name: "after a while", write: func(s *corev1.Service) {
			if !early() {
				time.Sleep(5 * time.Second)
			}
			at(time.RFC3339)(s)
		}},
		{name: "in a message", write: func(s *corev1.Service) {
			meta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{
				Type: "Ready", Status: metav1.ConditionTrue, Reason: "Seen", Message: fmt.Sprintf("first seen at %s, and not since.", time.Now().Format(time.RFC3339)),
			})
		}, said: "Service status.conditions.message"},
		{name: "in JSON", write: annotate(func(*corev1.Service) string {
			return fmt.Sprintf(`{"at":%q,"by":"me"}`, time.Now().Format(time.RFC3339))
		})},
		{name: "an hour later", write: annotate(func(*corev1.Service) string { return time.Now().Add(time.Hour).Format(time.RFC3339) })},
		{name: "a day before", write: annotate(func(*corev1.Service) string { return time.Now().Add(-24 * time.Hour).Format(time.RFC3339) })},

		{name: "an hour later, or two", differs: true, write: annotate(func(*corev1.Service) string {
			after, _ := time.ParseDuration(one("1h", "2h"))
			return time.Now().Add(after).Format(time.RFC3339)
		})},
		{name: "the time, or an hour later", differs: true, write: annotate(func(*corev1.Service) string {
			after, _ := time.ParseDuration(one("0s", "1h"))
			return time.Now().Add(after).Format(time.RFC3339)
		})},
		{name: "the time, or none", differs: true, write: annotate(func(*corev1.Service) string { return one(time.Now().Format(time.RFC3339), "never") })},
		{name: "the time and something else", differs: true, write: annotate(func(*corev1.Service) string { return one("early ", "late ") + time.Now().Format(time.RFC3339) })},
		{name: "times that are not near", differs: true, write: annotate(func(*corev1.Service) string { return one("2024-05-01T00:00:00Z", "2024-05-01T00:00:01Z") })},
		{name: "numbers that are not near", differs: true, write: annotate(func(*corev1.Service) string { return one("940000000", "940000001") })},
		{name: "numbers whole minutes away", differs: true, write: annotate(func(*corev1.Service) string { return one("946688400", "946692000") })},
		{name: "parts of something longer", differs: true, write: annotate(func(*corev1.Service) string { return one("v2000-01-01T00:00:01Z", "v2000-01-01T00:00:02Z") })},
		{
			name: "times of the initial objects", differs: true, given: map[string]string{"start": "2000-01-01T00:00:01Z", "end": "2000-01-01T00:00:31Z"},
			write: func(s *corev1.Service) { s.Annotations["seen"] = s.Annotations[one("start", "end")] },
		},
		{
			name: "numbers of the initial objects", differs: true, given: map[string]string{"start": "946684801", "end": "946684831"},
			write: func(s *corev1.Service) { s.Annotations["seen"] = s.Annotations[one("start", "end")] },
		},
		{
			name: "times of the initial objects, in another form", differs: true, given: map[string]string{"start": "2000-01-01T00:00:01Z", "end": "2000-01-01T00:00:31Z"},
			write: func(s *corev1.Service) {
				at, _ := time.Parse(time.RFC3339, s.Annotations[one("start", "end")])
				s.Annotations["seen"] = at.Format(time.RFC1123)
			},
		},
		{
			name: "times of a user", differs: true, user: map[string]string{"start": "2000-01-01T00:00:21Z", "end": "2000-01-01T00:00:31Z"},
			write: func(s *corev1.Service) { s.Annotations["seen"] = s.Annotations[one("start", "end")] },
		},
		{name: "when a user wrote", write: func(*corev1.Service) {}, user: map[string]string{"restartedAt": "now"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			service := func(name string, annotations map[string]string) *corev1.Service {
				return &corev1.Service{
					ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: annotations},
					Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
				}
			}
			create := controllerruntime.Action{Name: "create b", Do: func(ctx context.Context, c client.Client) error {
				annotations := map[string]string{}
				for name, text := range test.user {
					if annotations[name] = text; text == "now" {
						annotations[name] = time.Now().Format(time.RFC3339)
					}
				}
				for name, text := range test.given {
					annotations[name] = text
				}
				return c.Create(ctx, service("b", annotations))
			}}
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.ObjectValues(service("a", test.given)), controllerruntime.Scenario(create),
				controllerruntime.Setup(func(mgr ctrl.Manager) error {
					c := mgr.GetClient()
					return ctrl.NewControllerManagedBy(mgr).For(&corev1.Service{}).Named("clock").Complete(reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
						s := &corev1.Service{}
						if err := c.Get(ctx, r.NamespacedName, s); err != nil {
							return ctrl.Result{}, client.IgnoreNotFound(err)
						}
						switch {
						case s.Name == "a" && early():
							return ctrl.Result{RequeueAfter: time.Minute}, nil
						case s.Name == "a" || s.Labels["done"] != "":
							return ctrl.Result{}, nil
						}
						test.write(s)
						status := s.Status.DeepCopy()
						metav1.SetMetaDataLabel(&s.ObjectMeta, "done", "yes")
						if err := c.Update(ctx, s); err != nil || len(status.Conditions) == 0 {
							return ctrl.Result{}, err
						}
						s.Status = *status
						return ctrl.Result{}, c.Status().Update(ctx, s)
					}))
				}))
			system.Properties = append(system.Properties, properties.SameOutcome())
			result, err := orrery.Run(t.Context(), system, orrery.Options{Deadlines: 1})
			if err != nil {
				t.Fatal(err)
			}
			want := core.Holds
			if test.differs {
				want = core.Violated
			}
			r := result.Report
			if r.Verdict != want {
				t.Errorf("%s, want %s; it says %q, %+v", r.Verdict, want, r.Reasons, r.Findings)
			}
			assumptions := strings.Join(r.Assumptions, "\n")
			if said := strings.Contains(assumptions, "times of the virtual clock"); test.said != "" && !strings.Contains(assumptions, test.said) || said == test.differs {
				t.Errorf("it assumes %s", assumptions)
			}
		})
	}
}
