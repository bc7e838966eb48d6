package conformance

import (
	"encoding/json"
	"net/http"

	"k8s.io/apimachinery/pkg/types"
)

func subresourceMove(g *generator, s Subject, a *Action) bool {
	if len(s.Subresources) == 0 {
		return false
	}
	a.Subresource = pick(g, s.Subresources)
	a.Feature = a.Subresource
	switch a.Subresource {
	case "scale":
		scaleAction(g, a)
	case "binding":
		a.Verb = Create
		a.Object = json.RawMessage(`{"apiVersion":"v1","kind":"Binding","metadata":{"name":"` + a.Name + `"},"target":{"kind":"Node","name":"node-1"}}`)
	case "eviction":
		a.Verb = Create
		a.Object = json.RawMessage(`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"` + a.Name + `"}}`)
	case "finalize":
		a.Verb, a.Method, a.PatchType = Raw, http.MethodPut, "application/json"
		a.Body = `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"` + a.Name + `"},"spec":{"finalizers":[]}}`
	default:
		a.Verb, a.PatchType = Patch, string(types.StrategicMergePatchType)
		a.Body = `{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"1"}}}]}}`
	}
	return true
}

func scaleAction(g *generator, a *Action) {
	switch g.random.IntN(4) {
	case 0:
		a.Verb = Get
	case 1:
		a.Verb, a.Owner, a.Force = Apply, pick(g, owners), g.chance(50)
		a.Object = json.RawMessage(`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"` + a.Name + `","namespace":"` + a.Namespace + `"},"spec":` +
			pick(g, []string{`{"replicas":2}`, `{"replicas":3}`, `{"replicas":-1}`, `{"replicas":"many"}`, `{}`}) + `}`)
	case 2:
		a.Verb, a.PatchType = Patch, string(types.MergePatchType)
		a.Body = pick(g, []string{`{"spec":{"replicas":2}}`, `{"spec":{"replicas":-1}}`, `{"status":{"replicas":9}}`, `{}`})
	default:
		a.Verb = Update
		a.Object = json.RawMessage(`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"` + a.Name + `","namespace":"` + a.Namespace + `"},"spec":{"replicas":4}}`)
	}
}

// rawMove makes requests that a client library would not make.
func rawMove(g *generator, s Subject, a *Action) bool {
	a.Verb, a.PatchType = Raw, "application/json"
	name, kind := a.Name, s.Kind()
	whole := func(change string) string {
		head := `{"apiVersion":"` + s.APIVersion + `","kind":"` + kind.Kind + `","metadata":{"name":"` + name + `"}}`
		return string(merged(merged(s.Bodies[0], json.RawMessage(head)), json.RawMessage(change)))
	}
	post := func(feature, body string) { a.Method, a.Name, a.Feature, a.Body = http.MethodPost, "", feature, body }
	put := func(feature, body string) { a.Method, a.Feature, a.Body = http.MethodPut, feature, body }
	switch g.random.IntN(18) {
	case 0:
		post("truncated body", whole(`{}`)[:10])
	case 1:
		post("empty body", "")
	case 2:
		post("another kind", whole(`{"kind":"Other"}`))
	case 3:
		post("another version", whole(`{"apiVersion":"other/v9"}`))
	case 4:
		post("no kind", whole(`{"kind":null,"apiVersion":null}`))
	case 5:
		post("another namespace", whole(`{"metadata":{"namespace":"other-run"}}`))
	case 6:
		put("another name", whole(`{"metadata":{"name":"other-run"}}`))
	case 7:
		put("no name", whole(`{"metadata":{"name":null}}`))
	case 8:
		post("wrong content type", whole(`{}`))
		a.PatchType = "text/plain"
	case 9:
		a.Method, a.Feature, a.Body = http.MethodPatch, "wrong content type", `{}`
	case 10:
		a.Method, a.Feature, a.Body = http.MethodPost, "post to an object", whole(`{}`)
	case 11:
		put("put to a collection", whole(`{}`))
		a.Name = ""
	case 12:
		a.Method, a.Subresource, a.Feature = http.MethodGet, "nonsense", "unknown subresource"
	case 13:
		a.Method, a.Name, a.Query, a.Feature = http.MethodGet, "", pick(g, []string{"labelSelector=,,", "fieldSelector=,,", "limit=x", "limit=-1", "continue=nonsense"}), "malformed parameter"
	case 14:
		a.Method, a.Query, a.Feature = http.MethodDelete, pick(g, []string{"propagationPolicy=Nonsense", "gracePeriodSeconds=x", "dryRun=Nonsense"}), "malformed parameter"
	case 15:
		post("strict fields", whole(`{"unknown":1,"spec":{"nonsense":1}}`))
		a.Query = "fieldValidation=Strict"
	case 16:
		post("array body", "[]")
	case 17:
		put("replaced", whole(`{}`))
	}
	return true
}
