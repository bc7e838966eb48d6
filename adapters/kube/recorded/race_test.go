package recorded_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/standin"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/cli"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// seated is the annotation of a guest who has a seat.
const seated = "seated"

// seats gives every ServiceAccount a seat, and counts in a ConfigMap how many are taken. It counts up what its cache
// shows, with a patch that names no version: a seat is counted only once if the cache has not received the last one.
func seats(mgr ctrl.Manager) error {
	c := mgr.GetClient()
	return ctrl.NewControllerManagedBy(mgr).For(&corev1.ServiceAccount{}).Named("seats").Complete(
		reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
			guest := &corev1.ServiceAccount{}
			if err := c.Get(ctx, r.NamespacedName, guest); err != nil {
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			if guest.Annotations[seated] != "" {
				return ctrl.Result{}, nil
			}
			house := &corev1.ConfigMap{}
			if err := c.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: "house"}, house); err != nil {
				return ctrl.Result{}, err
			}
			taken, _ := strconv.Atoi(house.Data["taken"])
			counted := house.DeepCopy()
			counted.Data = map[string]string{"taken": strconv.Itoa(taken + 1)}
			if err := c.Patch(ctx, counted, client.MergeFrom(house)); err != nil {
				return ctrl.Result{}, err
			}
			base := guest.DeepCopy()
			guest.Annotations = map[string]string{seated: "yes"}
			return ctrl.Result{}, c.Patch(ctx, guest, client.MergeFrom(base))
		}))
}

func guest(name string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"guest": "yes"}}}
}

func house() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "house"}, Data: map[string]string{"taken": "0"}}
}

func coreScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return scheme
}

// seatsEntry is the same controller for the command.
func seatsEntry(t testing.TB) catalog.Entry {
	return catalog.Entry{Name: "seats", Doc: "Guests get seats, and seats are counted.", Build: func(catalog.Values) (*core.System, error) {
		return controllerruntime.New(coreScheme(t),
			controllerruntime.Name("seats"), controllerruntime.Setup(seats), controllerruntime.ObjectValues(house(), guest("a"), guest("b")),
			controllerruntime.Properties(properties.Convergent()...),
		)
	}}
}

// recordLostUpdate records the controller while it counts two guests once: what comes of the first seat is held back
// from its cache.
func recordLostUpdate(t *testing.T) string {
	t.Helper()
	server, err := kube.NewServer(coreScheme(t), kube.ManagedFields())
	if err != nil {
		t.Fatal(err)
	}
	cluster := standin.New(server)
	defer cluster.Close()
	mgr, folder := observed(t, cluster, server.Scheme(), "seats")
	if err := seats(mgr); err != nil {
		t.Fatal(err)
	}
	user, err := client.New(cluster.Config("kubectl"), client.Options{Scheme: server.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	arrive := func(name string) {
		g := guest(name)
		if err := user.Create(ctx, g); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(20 * time.Second); g.Annotations[seated] == ""; time.Sleep(5 * time.Millisecond) {
			if err := user.Get(ctx, client.ObjectKeyFromObject(g), g); err != nil || time.Now().After(deadline) {
				t.Fatalf("%s gets no seat: %v", name, err)
			}
		}
		time.Sleep(100 * time.Millisecond) // until nobody is at work
	}
	if err := user.Create(ctx, house()); err != nil {
		t.Fatal(err)
	}
	arrive("first")
	release := cluster.Hold("ConfigMap")
	arrive("a")
	arrive("b")
	release()
	time.Sleep(200 * time.Millisecond)
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return folder
}

// command runs the command, and returns what it prints.
func command(t *testing.T, code int, entry catalog.Entry, args ...string) string {
	t.Helper()
	var out, said bytes.Buffer
	if got := cli.Run(t.Context(), args, cli.Streams{Out: &out, Err: &said}, []catalog.Entry{entry}); got != code {
		t.Fatalf("orrery %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, &said, &out)
	}
	return out.String()
}

// wants fails the test if a text does not have all of some parts.
func wants(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}

// before returns the moment just before the first reconcile of a request.
func before(t *testing.T, entry catalog.Entry, folder, request string) string {
	t.Helper()
	var shown struct {
		Answer []struct {
			At      time.Duration `json:"at_ns"`
			Request string        `json:"request"`
		} `json:"answer"`
	}
	text := command(t, cli.ExitHolds, entry, "trace", "show", folder, "--controller", "seats", "--format", "json")
	if err := json.Unmarshal([]byte(text), &shown); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	for _, r := range shown.Answer {
		if r.Request == request {
			return fmt.Sprintf("%s@%dns", folder, r.At-1)
		}
	}
	t.Fatalf("there is no reconcile of %s in %s", request, text)
	return ""
}

// TestALostUpdateIsFoundAgain records a race, asks what happened, replays it, and lets searches that begin before it
// find it.
func TestALostUpdateIsFoundAgain(t *testing.T) {
	folder, entry := recordLostUpdate(t), seatsEntry(t)
	wants(t, command(t, cli.ExitHolds, entry, "trace", "stale", folder), "ConfigMap default/house", "seats default/b")
	wants(t, command(t, cli.ExitHolds, entry, "trace", "why", folder, "configmap/default/house.data.taken"), `data.taken is "2", and was "1"`, "seats default/a")
	command(t, cli.ExitHolds, entry, "trace", "replay", folder, "--system", "seats")
	command(t, cli.ExitHolds, entry, "trace", "validate", folder)

	// The cache is behind when b comes: whether it catches up first makes the difference.
	late := before(t, entry, folder, "default/b")
	text := command(t, cli.ExitViolated, entry, "check", "seats", "--from", late)
	wants(t, text, "unreachable with fresh caches", `data.taken is "2" in the first outcome, "3" in the second`, "its cache of ConfigMap is 1 change behind", "seats(default/b)")
	// Before a comes the cache is up to date, and b is yet to come.
	early := before(t, entry, folder, "default/a")
	text = command(t, cli.ExitHolds, entry, "check", "seats", "--from", early)
	wants(t, text, "kubectl creates ServiceAccount default/b@")
	text = command(t, cli.ExitViolated, entry, "check", "seats", "--from", early, "--stale", "seats/ConfigMap=lag(1)")
	wants(t, text, "outcome", "data.taken")
}
