package controllerruntime

import (
	"cmp"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/orrery-dev/orrery/adapters/kube"
)

// reviewTimeout is how long an API server waits for a webhook of which nothing else is
// said.
const reviewTimeout = 10 * time.Second

// webhooks returns the webhooks that a survey has found and that can be run. What they
// are asked about is said by the configurations, if there are any. Otherwise it is
// what the webhooks themselves tell: the defaulter or the validator of a kind is asked
// about creations and updates, which is what kubebuilder configures.
func (b *blueprint) webhooks(found *assembly) ([]kube.Webhook, error) {
	if len(b.configurations) > 0 {
		return b.configuredWebhooks(found)
	}
	paths := b.webhookPaths()
	var all []kube.Webhook
	for _, h := range found.hooks {
		about, known := b.subject(h.handler)
		if !known {
			about, known = paths[h.path]
		}
		if _, runs := h.handler.(*admission.Webhook); !runs || !known {
			found.unasked(h.path, "give what asks it with WebhookConfigurations, or leave it out of the set-up")
			continue
		}
		found.assume("The webhook at %s is asked about creations and updates.", h.path)
		r := &reviewer{blueprint: b, path: h.path, name: h.path, timeout: reviewTimeout, deadline: reviewDeadline}
		all = append(all, kube.Webhook{
			Name:       h.path,
			Kind:       about.kind,
			Operations: []admissionv1.Operation{admissionv1.Create, admissionv1.Update},
			Mutates:    about.mutates,
			Review:     r.review,
		})
	}
	slices.SortStableFunc(all, func(a, b kube.Webhook) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// admissionSubject is what a webhook is about.
type admissionSubject struct {
	kind    schema.GroupVersionKind
	mutates bool
}

// subject returns what a webhook is about that controller-runtime has made of a
// defaulter or a validator, and false if it is not such a one, or for a kind that is not
// served. The types of these are internal to controller-runtime, so they are told by
// their names, and asked for an object of their kind, which they can make.
func (b *blueprint) subject(handler http.Handler) (admissionSubject, bool) {
	var none admissionSubject
	hook, ok := handler.(*admission.Webhook)
	if !ok {
		return none, false
	}
	v := reflect.ValueOf(hook.Handler)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct || v.Elem().Type().PkgPath() != reflect.TypeFor[admission.Webhook]().PkgPath() {
		return none, false
	}
	name, _, _ := strings.Cut(v.Elem().Type().Name(), "[")
	if name != "defaulterForType" && name != "validatorForType" {
		return none, false
	}
	field := v.Elem().FieldByName("new")
	if !field.IsValid() || field.Kind() != reflect.Func || field.Type().NumIn() != 0 || field.Type().NumOut() != 1 {
		return none, false
	}
	made := reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Elem().Call(nil)
	object, ok := made[0].Interface().(runtime.Object)
	if !ok {
		return none, false
	}
	kind, err := apiutil.GVKForObject(object, b.scheme)
	if err != nil || b.server.Serves(kind) != nil {
		return none, false
	}
	return admissionSubject{kind: kind, mutates: name == "defaulterForType"}, true
}

// webhookPaths are the paths that controller-runtime gives to the webhooks of the kinds
// of the scheme that the API server serves. A handler of one's own is often at one of
// them.
func (b *blueprint) webhookPaths() map[string]admissionSubject {
	paths := map[string]admissionSubject{}
	for kind := range b.scheme.AllKnownTypes() {
		if b.server.Serves(kind) != nil {
			continue
		}
		name := strings.ReplaceAll(kind.Group, ".", "-") + "-" + kind.Version + "-" + strings.ToLower(kind.Kind)
		paths["/mutate-"+name] = admissionSubject{kind: kind, mutates: true}
		paths["/validate-"+name] = admissionSubject{kind: kind}
	}
	return paths
}

// conversionPath is where controller-runtime registers its conversion webhook. A request that needs it is refused by the API server as not
// modelled.
const conversionPath = "/convert"

// unasked notes a webhook that is not run.
func (a *assembly) unasked(path, advice string) {
	if path == conversionPath {
		a.assume("The webhook at %s is not run: a request that needs it makes the check inconclusive.", path)
		return
	}
	a.doubt("the webhook at %s is not run: %s", path, advice)
}
