// Package clientgo runs unmodified controllers on client-go's informers, listers and work queues in a checked system,
// from the code of their main.go.
//
// A set-up ([Setup]) does what main.go does: it makes clients, informer factories and controllers, in an [Environment]
// that reaches nothing but the simulated API server. Three things are different:
//
//   - clients are made from [Environment.Config]. Any clientset is, also a generated one: only the network below it is simulated;
//   - factories are filled ([Environment.Fill]) as soon as they are made. Then their informers' stores are the process's view of the cluster, which
//     may be stale, and the engine runs their event handlers. Namespaces, selectors, indexers and transforms are those of the factory and
//     the informer;
//   - the controller's work queue is replaced ([QueueIn], [TakeOver], [NewQueue]), and who works on its items is registered: a function that can be called ([Sync]), or a
//     controller that can only be run ([Run]).
//
// For example:
//
//	clientgo.Setup(func(e *clientgo.Environment) error {
//		client, err := kubernetes.NewForConfig(e.Config())
//		if err != nil {
//			return err
//		}
//		factory := informers.NewSharedInformerFactory(client, time.Minute)
//		if err := e.Fill(factory); err != nil {
//			return err
//		}
//		c := NewController(e.Context(), client, factory.Apps().V1().Deployments())
//		queue, err := clientgo.QueueIn[string](e, c)
//		if err != nil {
//			return err
//		}
//		clientgo.Run(e, "my-controller", c, queue, func(ctx context.Context) error { return c.Run(ctx, 2) })
//		return nil
//	})
//
// Every run of a controller is made on a fresh instance: the set-up is run again. It must therefore register the same
// controllers each time and keep its state out of package variables, in which only clients may be kept. What a
// controller keeps in its fields is its memory, and part of the state.
//
// Informers that the code makes without the environment, such as by [cache.NewSharedIndexInformer] or by a constructor
// of a generated package, would show nothing, as nobody fills them: a controller that holds one, or a factory that was
// not filled, is refused, with the way to it. [Environment.TakeOverInformers] takes them over, right after the
// constructor. [Environment.Informer] makes one to be put in their place.
//
// # Listers
//
// What a lister returns is what the informer holds, and nobody may change it. After each run, what was handed out is
// compared with what it was: a difference is a finding ("no cache mutation") that names the object and the field.
//
// # Work queues
//
// Inside the sync of an item, Add and AddRateLimited of that item are a requeue, and another item is enqueued at once,
// of the same queue or of another one. AddAfter sets a timer for the item, which fires when nothing else can happen,
// whatever its time. So does AddRateLimited where the limiter of the controller's own queue has items wait for the same
// second or more each time. From event handlers all are enqueued at once, unless they are to wait for more than a
// second. NumRequeues is 0, and an item is tried as long as it is added again, which is an assumption that reports
// name, unless [Queue.CountRequeues] has it counted. Order and rate limits do not exist, as every order is tried.
//
// Each queue of a controller is replaced, and what works on its items is registered. One that a check does not need is
// shut down in the set-up.
//
// # Controllers that can only be run
//
// [Run] starts the controller anew for each item, in the engine's bubble of virtual time. Its queue hands the item to
// the first worker that asks, and makes all others wait. When the item is done and its worker asks for the next, the
// context of the run ends. Workers must mark an item with a deferred Done, as they usually do: then a panic of a worker
// is a finding; otherwise it ends the whole program.
//
// Whatever else such a method starts, such as the workers of a second queue or a look at what is installed, begins anew
// with each item as well. If it makes calls that the item does not wait for, the controller works in the background,
// and a check takes many times longer. Give [Run] a function then that runs the workers of the queue alone, or [Sync]
// the one that they call.
//
// # Several controllers
//
// Event handlers that are added before a controller is registered are its own, and may fill the queues of others as
// well. A controller that has none is run for what others enqueue.
//
// # Background work
//
// A set-up that starts goroutines gives them [Environment.Background] as context. What they do, and what they add to
// work queues, is then steps of the process, at any moment; what they keep in the fields of controllers is memory.
// Where a set-up makes several controllers and only one of them has such goroutines, [Environment.BackgroundOf] says
// so, and a check takes less time.
//
// # Controllers of other libraries
//
// Controllers of controller-runtime are part of the same system by [With]:
// clientgo.With(controllerruntime.Setup(setUpOperator)). There is one API server, and the webhooks that managers
// register are asked about what all controllers write. Each set-up is a process of its own, also where one program has
// both: see what package controllerruntime says of that.
//
// # Not modelled
//
//   - event handlers, indexers and informers that are added while controllers run, which make a check inconclusive;
//   - watches made with a client;
//   - writes into the stores of informers, but for those of what the informer shows already: a controller may put there what the API server has answered, unless the
//     cache of the kind is behind (give it the rule own-writes then, in place of lag);
//   - resyncs, leader election, and the loss of an informer's events.
//
// Events that controllers record are dropped. Make event broadcasters with the context of the environment
// ([Environment.Context], with record.WithContext), or keep them in the controller: other ones live as long as the
// program, with their goroutines, for each instance. A check makes thousands of these and gets slower and slower: the
// last line of its report then says where the goroutines wait. Where the code that makes a broadcaster cannot be given
// a context, give the controller an event recorder of your own, such as a record.FakeRecorder. What controllers log
// through klog is dropped, or goes to [Logger]: the logger of klog, which a program has once, is that of the first
// system. With the option Logs of a check, stories show it.
package clientgo
