package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/hashicorp/go-hclog"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/orrery-dev/orrery/adapters/kube/controlplane"
	"github.com/orrery-dev/orrery/adapters/observe"
	"github.com/orrery-dev/orrery/examples/jobset/operator"
	"github.com/orrery-dev/orrery/record/live"
)

// record starts a real API server, records the controllers on it while a scenario is played, and returns a moment of the recording at which nobody was at work. If a file is named for it, the
// server keeps an audit log. The first time it is built, which takes a quarter of an hour.
func record(ctx context.Context, folder, name, auditLog string) (moment string, err error) {
	play := scenarios()[name]
	if play == nil {
		return "", fmt.Errorf("there is no scenario %q: use one of %s", name, strings.Join(slices.Sorted(maps.Keys(scenarios())), ", "))
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	log.SetLogger(logr.Discard())
	binaries, err := controlplane.Find(ctx, hclog.Default())
	if err != nil {
		return "", err
	}
	plane, err := controlplane.StartAudited(ctx, binaries, auditLog)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	l, err := newLive(ctx, plane.Config(), folder)
	if err != nil {
		return "", err
	}
	moment, err = play(l)
	return moment, errors.Join(err, l.close())
}

// cluster is a real API server with controllers, all of which are recorded but for who plays the garbage collector.
type cluster struct {
	context.Context
	config *rest.Config
	folder string
	// user and collector are clients that are not recorded.
	user, collector client.Client
	running         []*program
	replicas        map[string]int
	// off leaves recording out, for what it costs.
	off bool
}

// program is a manager at work.
type program struct {
	stop  func()
	ended chan error
}

// newLive installs the definition of JobSet, and begins to play the garbage collector.
func newLive(ctx context.Context, config *rest.Config, folder string) (*cluster, error) {
	definition, err := operator.DefinitionFile()
	if err != nil {
		return nil, err
	}
	if _, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{Paths: []string{definition}}); err != nil {
		return nil, err
	}
	l := &cluster{Context: ctx, config: config, folder: folder, replicas: map[string]int{}}
	if l.user, err = l.client("kubectl"); err != nil {
		return nil, err
	}
	if l.collector, err = l.client("kube-controller-manager"); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *cluster) client(name string) (client.Client, error) {
	scheme, err := operator.NewScheme()
	if err != nil {
		return nil, err
	}
	c, err := client.New(l.config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	return client.WithFieldOwner(c, name), nil
}

// unserved is a webhook server that serves nothing: the JobSets of the recording are as the webhooks of JobSet would leave them.
type unserved struct{ webhook.Server }

// Start implements manager.Runnable.
func (unserved) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// start starts a manager of a name with controllers, and records it. With a lease, it waits until no other has it.
func (l *cluster) start(name string, lease bool, register func(ctrl.Manager) error) error {
	scheme, err := operator.NewScheme()
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(l.config, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: ptr.To(true)},
		WebhookServer: unserved{webhook.NewServer(webhook.Options{})}, Logger: logr.Discard(),
		LeaderElection: lease, LeaderElectionID: name, LeaderElectionNamespace: "default", LeaderElectionReleaseOnCancel: true,
		LeaseDuration: ptr.To(4 * time.Second), RenewDeadline: ptr.To(3 * time.Second), RetryPeriod: ptr.To(500 * time.Millisecond),
	})
	if err != nil {
		return err
	}
	if !l.off {
		mgr = observe.Manager(mgr, observe.Options{Folder: l.folder, Process: live.Process{Name: name, Replica: fmt.Sprint(l.replicas[name])}})
	}
	l.replicas[name]++
	if err := register(mgr); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(l.Context)
	p := &program{stop: stop, ended: make(chan error, 1)}
	go func() { p.ended <- mgr.Start(ctx) }()
	l.running = append(l.running, p)
	return nil
}

// end ends a manager.
func (l *cluster) end(p *program) error {
	p.stop()
	l.running = slices.DeleteFunc(l.running, func(other *program) bool { return other == p })
	return <-p.ended
}

// close ends all managers.
func (l *cluster) close() error {
	var errs []error
	for _, p := range slices.Clone(l.running) {
		errs = append(errs, l.end(p))
	}
	return errors.Join(errs...)
}
