package incident

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/standin"
	"github.com/orrery-dev/orrery/adapters/observe"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

var update = flag.Bool("update", false, "write testdata/incident.ort anew; the tutorial shows its times")

// TestIncident makes it happen on a running manager: the cache of Namespaces falls behind, and two orders get one
// number. The recording shows why.
func TestIncident(t *testing.T) {
	folder := t.TempDir()
	server, err := kube.NewServer(scheme.Scheme, kube.ManagedFields())
	if err != nil {
		t.Fatal(err)
	}
	cluster := standin.New(server)
	defer cluster.Close()
	mgr, err := ctrl.NewManager(cluster.Config("shop"), ctrl.Options{
		Scheme: scheme.Scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	mgr = observe.Manager(mgr, observe.Options{Folder: folder, Process: live.Process{Name: "shop", Replica: "shop-0", Version: "v1"}})
	if err := (&orderReconciler{Client: mgr.GetClient()}).SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	user, err := client.New(cluster.Config("kubectl"), client.Options{Scheme: scheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()

	for _, o := range []client.Object{shop(), order("apples")} {
		if err := user.Create(ctx, o); err != nil {
			t.Fatal(err)
		}
	}
	if got := numbered(t, user, "apples"); got != "1" {
		t.Fatalf("the first order has the number %s", got)
	}
	time.Sleep(300 * time.Millisecond) // until the cache has it
	release := cluster.Hold("Namespace")
	for _, name := range []string{"pears", "plums"} {
		if err := user.Create(ctx, order(name)); err != nil {
			t.Fatal(err)
		}
		if got := numbered(t, user, name); got != "2" {
			t.Errorf("%s have the number %s", name, got)
		}
	}
	release()
	time.Sleep(300 * time.Millisecond)
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}

	sources, err := analysis.Files(folder)
	if err != nil {
		t.Fatal(err)
	}
	var stale []string
	if _, err := analysis.Stale(sources, func(read analysis.StaleRead) error {
		var text bytes.Buffer
		read.Text(&text)
		stale = append(stale, text.String())
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(stale) != 1 || !strings.Contains(stale[0], "orders shop/plums") || !strings.Contains(stale[0], "1 version behind") {
		t.Errorf("stale reads: %q", stale)
	}
	if *update {
		files, err := filepath.Glob(filepath.Join(folder, "*.ort"))
		if err != nil || len(files) != 1 {
			t.Fatalf("files %v, %v", files, err)
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("testdata/incident.ort", text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// numbered waits until an order has a number.
func numbered(t *testing.T, c client.Client, name string) string {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		var o corev1.ConfigMap
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(order(name)), &o); err == nil && o.Data["number"] != "" {
			return o.Data["number"]
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s get no number", name)
		}
	}
}
