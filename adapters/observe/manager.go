package observe

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Manager returns a manager that records what its controllers do. Everything else it does as the given one, which
// should not be used any more. Call it before anything is registered. What goes wrong with the recording is reported,
// and never is an error of the manager.
func Manager(mgr manager.Manager, options Options) manager.Manager {
	observed, _ := Start(mgr, options)
	return observed
}

// Start is [Manager], and returns the recorder as well, to switch it off and on.
func Start(mgr manager.Manager, options Options) (observed manager.Manager, recorder *Recorder) {
	if options.Report == nil {
		log := mgr.GetLogger().WithName("observe")
		options.Report = func(err error) { log.Error(err, "Recording stopped") }
	}
	recorder = newRecorder(options)
	m := &observedManager{Manager: mgr, recorder: recorder}
	observed = m // whatever happens below: what is not wrapped is the given manager's
	defer recorder.contain()
	marks := watchTransport(mgr.GetHTTPClient(), recorder, mgr.GetScheme())
	if !marks {
		recorder.unseen("", "the manager has no HTTP client: reads of its client count as answered by the cache")
	}
	m.cached = &observedCache{mgr.GetCache(), recorder, mgr.GetScheme()}
	reads := byTransport
	if !marks {
		reads = alwaysCached
	}
	m.client = newObservedClient(mgr.GetClient(), recorder, reads)
	m.reader = newObservedReader(mgr.GetAPIReader(), recorder, mgr.GetScheme())
	return observed, recorder
}

// observedManager is a manager whose clients, cache and controllers are recorded.
type observedManager struct {
	manager.Manager
	recorder *Recorder
	cached   cache.Cache
	client   client.Client
	reader   client.Reader
}

// GetClient implements cluster.Cluster.
func (m *observedManager) GetClient() client.Client {
	if m.client == nil {
		return m.Manager.GetClient()
	}
	return m.client
}

// GetAPIReader implements cluster.Cluster.
func (m *observedManager) GetAPIReader() client.Reader {
	if m.reader == nil {
		return m.Manager.GetAPIReader()
	}
	return m.reader
}

// GetCache implements cluster.Cluster.
func (m *observedManager) GetCache() cache.Cache {
	if m.cached == nil {
		return m.Manager.GetCache()
	}
	return m.cached
}

// Add implements manager.Manager.
func (m *observedManager) Add(runnable manager.Runnable) error {
	return m.Manager.Add(m.observe(runnable))
}

// observe returns what is to be started in place of a runnable.
func (m *observedManager) observe(runnable manager.Runnable) (started manager.Runnable) {
	started = runnable
	if runnable == nil {
		return started
	}
	defer m.recorder.contain()
	for _, requests := range m.recorder.requests {
		observed, err := requests.observe(m.recorder, runnable)
		if err != nil {
			m.recorder.unseen("", err.Error())
			return runnable
		}
		if observed != nil {
			return observed
		}
	}
	if name, ok := isController(runnable); ok {
		m.recorder.unseen(name, "its requests are of a type of its own: name it in Options.Requests with RequestsOf, to have its reconciles recorded")
	}
	return started
}

// Start implements manager.Manager. When the manager ends, the recording does.
func (m *observedManager) Start(ctx context.Context) error {
	defer func() {
		if err := m.recorder.Close(); err != nil && m.recorder.options.Report != nil {
			m.recorder.options.Report(err)
		}
	}()
	return m.Manager.Start(ctx)
}
