package system

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/adapters/internal/informer"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/scenario"
	"github.com/orrery-dev/orrery/core"
)

// Library is what an adapter adds to a [Definition]: set-ups that make controllers with one library.
type Library interface {
	// Adapter is the name of the adapter's package, as messages have it.
	Adapter() string

	// SetUps is how many set-ups there are.
	SetUps() int

	// Survey runs the set-ups once, to see what they register. The server has neither indexes nor webhooks yet. The
	// error says what to change.
	Survey(*runtime.Scheme, *kube.Server) (Found, error)
}

// Found is what the set-ups of a library register.
type Found struct {
	// Notes are what of it is not modelled. More may be noted until the system is made.
	Notes *Notes

	// Indexes are the field indexes of its caches.
	Indexes informer.Indexes

	// Register returns the controllers, and the webhooks that the server is to ask, from a server that has the indexes
	// of all libraries.
	Register func(*kube.Server) ([]core.Strategy, []kube.Webhook, error)
}

// Foreign is an option of an adapter, as the other adapters see it.
type Foreign interface {
	// Join adds what the option says to a definition of any adapter.
	Join(*Definition)
}

// With adds what options of other adapters say.
func With(options ...Foreign) Option {
	return func(d *Definition) {
		for _, option := range options {
			if option == nil {
				d.Fail("an option given to With is nil: pass what a function of an adapter returns")
				return
			}
			option.Join(d)
		}
	}
}

// Joined returns the part of an adapter in a definition. It is made when it is first asked for.
func Joined[L Library](d *Definition, fresh func() L) L {
	for _, library := range d.libraries {
		if own, ok := library.(L); ok {
			return own
		}
	}
	own := fresh()
	d.libraries = append(d.libraries, own)
	return own
}

// SetUps is how many set-ups the definition has, of all libraries.
func (d *Definition) SetUps() int {
	n := 0
	for _, library := range d.libraries {
		n += library.SetUps()
	}
	return n
}

// Mixed reports whether there are set-ups of several libraries.
func (d *Definition) Mixed() bool {
	n := 0
	for _, library := range d.libraries {
		n += min(1, library.SetUps())
	}
	return n > 1
}

// New makes the system. The scheme has the Go types that controllers use.
func (d *Definition) New(scheme *runtime.Scheme) (*core.System, error) {
	if err := errors.Join(d.errs...); err != nil {
		return nil, err
	}
	server, err := d.server(scheme)
	if err != nil {
		return nil, err
	}
	all := make([]Found, len(d.libraries))
	indexed := server
	for i, library := range d.libraries {
		if all[i], err = library.Survey(scheme, server); err != nil {
			return nil, d.of(library, err)
		}
		if indexed, err = indexed.WithFieldIndexes(all[i].Indexes.ForServer(scheme)...); err != nil {
			return nil, d.of(library, err)
		}
	}
	var controllers []core.Strategy
	var webhooks []kube.Webhook
	for i, library := range d.libraries {
		of, hooks, err := all[i].Register(indexed)
		if err != nil {
			return nil, d.of(library, err)
		}
		controllers, webhooks = append(controllers, of...), append(webhooks, hooks...)
	}
	if len(controllers) == 0 {
		return nil, errors.New("the set-ups register no controllers, but only what is asked by the API server: add a set-up with controllers")
	}
	if len(webhooks) == 0 {
		if err := scenario.Valid(indexed, d.actions); err != nil {
			return nil, err
		}
	}
	// From here on the API server asks the webhooks; they themselves read past it.
	if server, err = indexed.WithWebhooks(webhooks...); err != nil {
		return nil, err
	}
	found := &findings{}
	for i, library := range d.libraries {
		found.add(library.Adapter(), all[i].Notes)
	}
	return d.system(server, controllers, found)
}

// of says which adapter an error is about, where there are several.
func (d *Definition) of(library Library, err error) error {
	if err == nil || !d.Mixed() {
		return err
	}
	return fmt.Errorf("%s: %w", library.Adapter(), err)
}

// findings are what all libraries have noted.
type findings struct {
	assumptions, doubts []string
	parts               []ownPart
}

// ownPart is a part with the adapter whose option leaves it out.
type ownPart struct {
	Part
	adapter string
}

func (f *findings) add(adapter string, notes *Notes) {
	assumptions, doubts, parts := notes.noted()
	f.assumptions, f.doubts = join(f.assumptions, assumptions), join(f.doubts, doubts)
	for _, p := range parts {
		f.parts = append(f.parts, ownPart{p, adapter})
	}
}

// join adds texts to others, each once.
func join(texts, more []string) []string {
	for _, text := range more {
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

// libraries are the packages that carry the calls of controllers of Kubernetes: clients, what is between them and
// controllers, and what Kubernetes' generators write.
func libraries() []string {
	return []string{
		"k8s.io/client-go/...", "k8s.io/apimachinery/...", "k8s.io/apiextensions-apiserver/...", "k8s.io/component-base/...", "k8s.io/component-helpers/...", "k8s.io/klog/...", "k8s.io/utils/...",
		"sigs.k8s.io/controller-runtime/...", "knative.dev/pkg/...", "golang.org/x/...", "github.com/go-logr/...",
		".../clientset/versioned/...", ".../listers/...", ".../informers/externalversions/...",
	}
}
