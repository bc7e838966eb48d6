package foreign_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/foreign"
)

func TestCalls(t *testing.T) {
	const at = "/api/v1/namespaces/web/configmaps"
	grace := int64(5)
	a := core.Key{Kind: "ConfigMap", Namespace: "web", Name: "a"}
	tests := map[string]struct {
		line  line
		want  live.Call
		shown []string // versions
	}{
		"create": {
			line{verb: "create", uri: at + "?fieldManager=m", ref: "/configmaps/web", code: 201, request: configMap(0, "", "1"), response: configMap(7, "", "1")},
			live.Call{Verb: live.Create, Object: a, Base: "0", Write: &live.Write{Manager: "m"}}, []string{"7"},
		},
		"a generated name": {
			line{verb: "create", uri: at, ref: "/configmaps/web", request: `{"kind":"ConfigMap","metadata":{"generateName":"a"}}`, response: configMap(7, "", "1")},
			live.Call{Verb: live.Create, Object: a, Write: &live.Write{}}, []string{"7"},
		},
		"update": {
			line{verb: "update", uri: at + "/a", ref: "/configmaps/web/a", request: configMap(7, "", "2"), response: configMap(8, "", "2")},
			live.Call{Verb: live.Update, Object: a, Base: "7", Write: &live.Write{}}, []string{"8"},
		},
		"refused": {
			line{verb: "update", uri: at + "/a", ref: "/configmaps/web/a", code: 409, reason: "Conflict", message: "changed", request: configMap(7, "", "2"), response: `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"Conflict","code":409}`},
			live.Call{Verb: live.Update, Object: a, Base: "7", Write: &live.Write{}, Failed: &live.Failure{Code: 409, Reason: "Conflict", Message: "changed"}}, nil,
		},
		"the server panicked": {
			line{verb: "update", stage: "Panic", uri: at + "/a", ref: "/configmaps/web/a", request: configMap(7, "", "2")},
			live.Call{Verb: live.Update, Object: a, Base: "7", Write: &live.Write{}, Failed: &live.Failure{Code: 500, Reason: "InternalError", Message: "the API server panicked"}}, nil,
		},
		"dry run": {
			line{verb: "update", uri: at + "/a?dryRun=All", ref: "/configmaps/web/a", request: configMap(7, "", "2"), response: configMap(7, "", "2")},
			live.Call{Verb: live.Update, Object: a, Base: "7", Write: &live.Write{DryRun: true}}, nil,
		},
		"status": {
			line{verb: "update", uri: at + "/a/status", ref: "/configmaps/web/a/status", request: configMap(7, "", "2"), response: configMap(8, "", "2")},
			live.Call{Verb: live.Update, Object: a, Subresource: "status", Base: "7", Write: &live.Write{}}, []string{"8"},
		},
		"a subresource of another kind": {
			line{verb: "get", uri: at + "/a/scale", ref: "/configmaps/web/a/scale", response: `{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"a","namespace":"web","resourceVersion":"7"}}`},
			live.Call{Verb: live.Get, Object: a, Subresource: "scale"}, nil,
		},
		"JSON patch": {
			line{verb: "patch", uri: at + "/a", ref: "/configmaps/web/a", request: `[{"op":"remove","path":"/data"}]`, response: configMap(8, "", "")},
			live.Call{Verb: live.Patch, Object: a, Write: &live.Write{Patch: "application/json-patch+json"}}, []string{"8"},
		},
		"merge patch": {
			line{verb: "patch", uri: at + "/a?fieldManager=m", ref: "/configmaps/web/a", request: `{"metadata":{"resourceVersion":"7"}}`, response: configMap(8, "", "")},
			live.Call{Verb: live.Patch, Object: a, Base: "7", Write: &live.Write{Manager: "m"}}, []string{"8"},
		},
		"merge patch of a whole object": {
			line{verb: "patch", uri: at + "/a?fieldManager=m", ref: "/configmaps/web/a", request: configMap(7, "", "1"), response: configMap(8, `"managedFields":[{"manager":"m","operation":"Update"}]`, "")},
			live.Call{Verb: live.Patch, Object: a, Base: "7", Write: &live.Write{Manager: "m"}}, []string{"8"},
		},
		"apply": {
			line{verb: "patch", uri: at + "/a?fieldManager=m", ref: "/configmaps/web/a", request: `{"kind":"ConfigMap","apiVersion":"v1"}`, response: configMap(8, `"managedFields":[{"manager":"m","operation":"Apply"}]`, "")},
			live.Call{Verb: live.Apply, Object: a, Write: &live.Write{Manager: "m"}}, []string{"8"},
		},
		"forced apply": {
			line{verb: "patch", uri: at + "/a?fieldManager=m&force=true", ref: "/configmaps/web/a", request: `{"kind":"ConfigMap","apiVersion":"v1"}`, response: configMap(8, "", "")},
			live.Call{Verb: live.Apply, Object: a, Write: &live.Write{Manager: "m", Force: true}}, []string{"8"},
		},
		"delete": {
			line{
				verb: "delete", uri: at + "/a?propagationPolicy=Orphan", ref: "/configmaps/web/a", response: `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`,
				request: `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":5,"propagationPolicy":"Foreground","preconditions":{"uid":"u","resourceVersion":"8"}}`,
			},
			live.Call{Verb: live.Delete, Object: a, Write: &live.Write{Propagation: "Foreground", Grace: &grace, UID: "u", ResourceVersion: "8"}}, nil,
		},
		"get": {
			line{verb: "get", uri: at + "/a", ref: "/configmaps/web/a", response: configMap(8, "", "2")},
			live.Call{Verb: live.Get, Object: a}, []string{"8"},
		},
		"a Namespace": {
			line{verb: "get", uri: "/api/v1/namespaces/web", ref: "/namespaces/web/web", response: `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"web","resourceVersion":"3"}}`},
			live.Call{Verb: live.Get, Object: core.Key{Kind: "Namespace", Name: "web"}}, []string{"3"},
		},
		"list": {
			line{
				verb: "list", uri: at + "?labelSelector=x%3Dy&fieldSelector=metadata.name%3Da&limit=1&continue=abc", ref: "/configmaps/web",
				response: `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"def"},"items":[{"metadata":{"name":"a","namespace":"web","resourceVersion":"8"}}]}`,
			},
			live.Call{
				Verb: live.List, Object: core.Key{Kind: "ConfigMap", Namespace: "web"}, ListVersion: "9", Continues: true,
				Selection: &live.Selection{Labels: "x=y", Fields: "metadata.name=a", Limit: 1, Continue: true},
			}, []string{"8"},
		},
		"a table": {
			line{verb: "list", uri: at, ref: "/configmaps/web", response: `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"9"},"rows":[]}`},
			live.Call{Verb: live.List, Object: core.Key{Kind: "ConfigMap", Namespace: "web"}}, nil,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.line.at = 2
			got := imported(t, line{at: 1, verb: "get", uri: "/healthz"}, test.line)
			if len(got.calls) != 1 || len(got.gaps) != 0 {
				t.Fatalf("%d calls, gaps %v", len(got.calls), got.gaps)
			}
			call := got.calls[0]
			var shown []string
			for _, number := range call.Answer {
				shown = append(shown, got.objects[number-1].ResourceVersion)
			}
			if !reflect.DeepEqual(shown, test.shown) {
				t.Errorf("the answer has the versions %v, want %v", shown, test.shown)
			}
			if call.Verb != live.Delete && (call.Sent != nil) != (test.line.request != "") {
				t.Errorf("sent %s", call.Sent)
			}
			test.want.N, test.want.At, test.want.Took = 1, time.Second, 10*time.Millisecond
			test.want.Client = "system:serviceaccount:web:widgets (widgets)"
			call.Sent, call.Answer = nil, nil
			if !reflect.DeepEqual(call, test.want) {
				t.Errorf("got  %+v %+v\nwant %+v %+v", call, call.Write, test.want, test.want.Write)
			}
		})
	}
}

// TestNotCalls leaves out what is no call about an object, or is told elsewhere.
func TestNotCalls(t *testing.T) {
	got := imported(t,
		line{at: 1, verb: "get", uri: "/version"},
		line{at: 2, verb: "watch", ref: "/configmaps/web"},
		line{at: 3, verb: "update", stage: "RequestReceived", ref: "/configmaps/web/a", request: configMap(1, "", "1")},
		line{at: 4, verb: "get", stage: "ResponseStarted", ref: "/configmaps/web/a"},
		line{at: 5, verb: "create", ref: "/pods/web/a/exec", code: 101},
		line{at: 6, verb: "get", ref: "/pods/web/a/log"},
	)
	if len(got.calls)+len(got.events)+len(got.objects)+len(got.gaps) != 0 || len(got.unseen) != len(foreign.AuditUnseen()) {
		t.Errorf("got %+v", got)
	}
}

// TestGone tells that an object is gone when it is known to be, and not while something holds it.
func TestGone(t *testing.T) {
	const deleting = `"deletionTimestamp":"2026-03-04T05:06:07Z"`
	kind := func(text, kind string) string { return strings.ReplaceAll(text, "ConfigMap", kind) }
	created := func(resource, kinds string) line {
		return line{at: 1, verb: "create", ref: "/" + resource + "/web/a", response: kind(configMap(1, "", ""), kinds)}
	}
	success := `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`
	list := func(kind, metadata string) string {
		return `{"kind":"` + kind + `List","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a","namespace":"web","uid":"u","resourceVersion":"1"` + metadata + `}}]}`
	}
	tests := map[string]struct {
		lines []fmt.Stringer
		gone  bool
	}{
		"a status":             {[]fmt.Stringer{created("configmaps", "ConfigMap"), line{at: 2, verb: "delete", ref: "/configmaps/web/a", response: success}}, true},
		"the object":           {[]fmt.Stringer{created("configmaps", "ConfigMap"), line{at: 2, verb: "delete", ref: "/configmaps/web/a", response: configMap(2, "", "")}}, true},
		"a finalizer":          {[]fmt.Stringer{created("configmaps", "ConfigMap"), line{at: 2, verb: "delete", ref: "/configmaps/web/a", response: configMap(2, deleting+`,"finalizers":["f"]`, "")}}, false},
		"the last finalizer":   {[]fmt.Stringer{line{at: 2, verb: "update", ref: "/configmaps/web/a", response: configMap(3, deleting+`,"deletionGracePeriodSeconds":0`, "")}}, true},
		"somebody who reads":   {[]fmt.Stringer{line{at: 2, verb: "get", ref: "/configmaps/web/a", response: configMap(3, deleting, "")}}, false},
		"a dry run":            {[]fmt.Stringer{created("configmaps", "ConfigMap"), line{at: 2, verb: "delete", uri: "/?dryRun=All", ref: "/configmaps/web/a", response: success}}, false},
		"refused":              {[]fmt.Stringer{created("configmaps", "ConfigMap"), line{at: 2, verb: "delete", code: 403, ref: "/configmaps/web/a", response: success}}, false},
		"no answer":            {[]fmt.Stringer{created("configmaps", "ConfigMap"), line{at: 2, verb: "delete", level: "Metadata", ref: "/configmaps/web/a"}}, false},
		"never seen":           {[]fmt.Stringer{line{at: 2, verb: "delete", ref: "/configmaps/web/a", response: success}}, false},
		"another one":          {[]fmt.Stringer{created("configmaps", "ConfigMap"), line{at: 2, verb: "delete", ref: "/configmaps/web/b", response: success}}, false},
		"a Pod with time":      {[]fmt.Stringer{line{at: 2, verb: "delete", ref: "/pods/web/a", response: kind(configMap(2, deleting+`,"deletionGracePeriodSeconds":30`, ""), "Pod")}}, false},
		"a Pod without":        {[]fmt.Stringer{line{at: 2, verb: "delete", ref: "/pods/web/a", response: kind(configMap(2, deleting+`,"deletionGracePeriodSeconds":0`, ""), "Pod")}}, true},
		"all":                  {[]fmt.Stringer{created("configmaps", "ConfigMap"), line{at: 2, verb: "deletecollection", ref: "/configmaps/web", response: list("ConfigMap", "")}}, true},
		"all with a finalizer": {[]fmt.Stringer{created("configmaps", "ConfigMap"), line{at: 2, verb: "deletecollection", ref: "/configmaps/web", response: list("ConfigMap", `,"finalizers":["f"]`)}}, false},
		"all in foreground":    {[]fmt.Stringer{line{at: 2, verb: "deletecollection", uri: "/?propagationPolicy=Foreground", ref: "/configmaps/web", response: list("ConfigMap", "")}}, false},
		"all Pods":             {[]fmt.Stringer{line{at: 2, verb: "deletecollection", ref: "/pods/web", response: list("Pod", "")}}, false},
		"a Namespace": {[]fmt.Stringer{line{
			at: 2, verb: "delete", ref: "/namespaces//a",
			response: `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"2",` + deleting + `},"spec":{"finalizers":["kubernetes"]}}`,
		}}, false},
		"a finalized Namespace": {[]fmt.Stringer{line{
			at: 2, verb: "update", ref: "/namespaces//a/finalize",
			response: `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"2",` + deleting + `},"spec":{}}`,
		}}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := imported(t, test.lines...)
			gone := slices.ContainsFunc(got.events, func(e live.Event) bool { return e.Type == live.Deleted })
			if gone != test.gone || len(got.events) > 1 || len(got.gaps) > 0 {
				t.Errorf("gone: %v, want %v; events %v, gaps %v", gone, test.gone, got.events, got.gaps)
			}
		})
	}
}

// TestUnseen says what is not in a log, and why.
func TestUnseen(t *testing.T) {
	status := `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"web"}}`
	got := imported(t,
		line{at: 1, verb: "get", level: "Metadata", ref: "/configmaps/web/a"},
		line{at: 2, verb: "update", level: "Metadata", ref: "/configmaps/web/a"},
		line{at: 3, verb: "delete", level: "Metadata", ref: "/configmaps/web/a"},
		line{at: 4, verb: "update", level: "Request", ref: "/configmaps/web/a", request: status},
		line{at: 5, verb: "get", ref: "/configmaps/web/a"},
		line{at: 6, verb: "get", level: "Metadata", code: 404, ref: "/configmaps/web/b"},
		line{at: 6, verb: "get", level: "Metadata", code: 404, ref: "/configmaps/web/b"},
		text(`{"kind":"Event","apiVersion":"audit.k8s.io/v1alpha1"}`), text(`not JSON`), text(`{"kind":`), text(``), text(`[]`),
	)
	want := append(foreign.AuditUnseen(),
		"4 lines are no events of audit.k8s.io/v1, and left out",
		"1 events were there more than once, and are recorded once",
		"3 calls were logged at level Metadata, without their answers: which versions they read or wrote is not known. Give the resources in question the level RequestResponse in the audit policy",
		"1 calls were logged at level Request, without their answers: which versions they read or wrote is not known. Give the resources in question the level RequestResponse in the audit policy",
		"1 calls were logged at level RequestResponse, without their answers: which versions they read or wrote is not known. They were cut off, or were no objects: set --audit-log-truncate-enabled=false, or --audit-log-truncate-max-event-size to more",
	)
	if !reflect.DeepEqual(got.unseen, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got.unseen, "\n"), strings.Join(want, "\n"))
	}
	if len(got.calls) != 6 {
		t.Errorf("%d calls, want 6", len(got.calls))
	}
}

// TestMetadataOnly does not take an object whose metadata somebody asked for to have lost all else.
func TestMetadataOnly(t *testing.T) {
	part := `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","namespace":"web","uid":"u","resourceVersion":"7"}}`
	got := imported(t,
		line{at: 1, verb: "get", ref: "/configmaps/web/a", response: part},
		line{at: 2, verb: "list", ref: "/configmaps/web", response: `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"9"},"items":[` + part + `]}`},
		line{at: 3, verb: "get", ref: "/configmaps/web/a", response: configMap(7, "", "1")},
	)
	var forms []string
	for _, o := range got.objects {
		forms = append(forms, string(o.Kind)+" "+o.ResourceVersion+" "+o.Form)
	}
	if want := []string{"ConfigMap 7 metadata", "ConfigMap 7 "}; !reflect.DeepEqual(forms, want) {
		t.Errorf("objects %q, want %q", forms, want)
	}
}

// TestWithoutVersion keeps objects apart that have no version, as those of aggregated servers can.
func TestWithoutVersion(t *testing.T) {
	without := strings.NewReplacer(`"resourceVersion":"1"`, `"generation":1`)
	got := imported(t,
		line{at: 1, verb: "get", ref: "/configmaps/web/a", response: without.Replace(configMap(1, "", "1"))},
		line{at: 2, verb: "get", ref: "/configmaps/web/a", response: without.Replace(configMap(1, "", "2"))},
	)
	if len(got.objects) != 2 || string(got.objects[0].Value) == string(got.objects[1].Value) {
		t.Errorf("objects %v", got.objects)
	}
}

// TestKinds learns the kinds of custom resources from all files before it begins, and not from what was refused.
func TestKinds(t *testing.T) {
	widget := `{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"a","namespace":"web","resourceVersion":"7"}}`
	got := imported(t,
		line{at: 1, verb: "create", ref: "example.com/widgets/web", code: 400, request: strings.ReplaceAll(widget, "Widget", "Wrong")},
		line{at: 2, verb: "deletecollection", ref: "example.com/widgets/web", response: `{"kind":"WidgetList","apiVersion":"example.com/v1","metadata":{},"items":[]}`},
		line{at: 3, verb: "get", level: "Metadata", ref: "example.com/widgets/web/a"},
		line{at: 4, verb: "get", ref: "example.com/widgets/web/a", response: widget},
		line{at: 5, verb: "get", level: "Metadata", ref: "example.com/others/web/a"},
		line{at: 6, verb: "get", level: "Metadata", ref: "networking.k8s.io/ingresses/web/a"},
		line{at: 7, verb: "get", level: "Metadata", ref: "networking.k8s.io/networkpolicies/web/a"},
	)
	var kinds []string
	for _, c := range got.calls {
		kinds = append(kinds, string(c.Object.Kind))
	}
	want := []string{
		"Widget.example.com", "Widget.example.com", "Widget.example.com", "Widget.example.com", "others.example.com", "Ingress.networking.k8s.io", "NetworkPolicy.networking.k8s.io",
	}
	if !reflect.DeepEqual(kinds, want) {
		t.Errorf("kinds %q, want %q", kinds, want)
	}
}

// TestSecrets keeps no value of a Secret and no token, wherever it stands, unless it is told to.
func TestSecrets(t *testing.T) {
	secret := strings.Replace(configMap(7, `"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"hush"}`, "hush"), "ConfigMap", "Secret", 1)
	log := logOf(
		line{at: 1, verb: "create", ref: "/secrets/web/a", request: secret, response: secret},
		line{at: 2, verb: "patch", ref: "/secrets/web/a", request: `{"data":{"n":"hush"}}`, response: secret},
		line{at: 3, verb: "patch", ref: "/secrets/web/a", request: `[{"op":"add","path":"/data/n","value":"hush"}]`, response: secret},
		line{at: 4, verb: "update", ref: "/secrets/web/a", code: 422, reason: "Invalid", message: "hush is invalid", request: secret},
		line{at: 5, verb: "list", ref: "/secrets/web", response: `{"kind":"SecretList","apiVersion":"v1","metadata":{},"items":[` + secret + `]}`},
		line{at: 6, verb: "create", ref: "authentication.k8s.io/tokenreviews", request: `{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","spec":{"token":"hush"}}`},
		line{at: 7, verb: "create", ref: "/serviceaccounts/web/a/token", request: `{"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","status":{"token":"hush"}}`},
		line{at: 8, verb: "get", ref: "/secrets/web/a", response: `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","namespace":"web","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"hush"}}}`},
	)
	for _, keep := range []bool{false, true} {
		var out bytes.Buffer
		if err := foreign.Audit([]foreign.File{fileOf("audit.log", log)}, &out, foreign.Options{KeepSecrets: keep}); err != nil {
			t.Fatal(err)
		}
		got := read(t, out.Bytes())
		said := fmt.Sprintf("%s", got.header.Redacted)
		for _, o := range got.objects {
			said += string(o.Value)
		}
		for _, c := range got.calls {
			said += string(c.Sent)
			if c.Failed != nil {
				said += c.Failed.Message
			}
		}
		if len(got.calls) != 8 || strings.Contains(said, "hush") != keep || (len(got.header.Redacted) == 0) != keep {
			t.Errorf("keep %v: %d calls, which say %s", keep, len(got.calls), said)
		}
	}
}

// TestFiles puts events of several files, in any packing, in the order in which they were answered.
func TestFiles(t *testing.T) {
	get := func(at float64) line {
		return line{at: at, verb: "get", ref: fmt.Sprintf("/configmaps/web/a%v", at), response: strings.Replace(configMap(int(10*at), "", ""), `"a"`, fmt.Sprintf(`"a%v"`, at), 1)}
	}
	list := text(fmt.Sprintf(`{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[%s,%s]}`, get(2), get(5)))
	got := audited(t,
		fileOf("one", logOf(get(3), get(6))), fileOf("two", zipped(logOf(get(1), get(4)))), fileOf("three", bytes.TrimSpace(logOf(list))),
		fileOf("one again", logOf(get(3), get(6))))
	var names []string
	for i, c := range got.calls {
		if c.N != uint64(i+1) || c.At != time.Duration(i)*time.Second {
			t.Errorf("call %d has number %d and time %v", i, c.N, c.At)
		}
		names = append(names, c.Object.Name)
	}
	if want := []string{"a1", "a2", "a3", "a4", "a5", "a6"}; !reflect.DeepEqual(names, want) || got.end != 5*time.Second+10*time.Millisecond {
		t.Errorf("calls about %q, want %q; end %v", names, want, got.end)
	}
	if want := (live.Process{Name: "audit log", Replica: "web"}); got.header.Process != want || !got.header.Started.Equal(began.Add(990*time.Millisecond)) {
		t.Errorf("header %+v", got.header)
	}
}

// TestBadFiles says what is wrong, with the name of the file.
func TestBadFiles(t *testing.T) {
	good := logOf(line{at: 1, verb: "get", ref: "/configmaps/web/a", response: configMap(1, "", "")})
	tests := map[string]struct {
		file foreign.File
		want string
	}{
		"empty":     {fileOf("bad.log", nil), "bad.log has no event of audit.k8s.io/v1: give the file that --audit-log-path"},
		"other":     {fileOf("bad.log", []byte("I1104 12:00 server.go:1] ready\n")), "bad.log has no event of audit.k8s.io/v1"},
		"cut off":   {fileOf("bad.log", zipped(bytes.Repeat(good, 100))[:120]), "bad.log is compressed, and cut off (unexpected EOF): give what gzip -dc unpacks of it"},
		"not gzip":  {fileOf("bad.log", []byte{0x1f, 0x8b, 0, 0}), "bad.log: "},
		"no file":   {foreign.File{Name: "bad.log", Open: func() (io.ReadCloser, error) { return nil, errors.New("no such file") }}, "no such file"},
		"a bad end": {foreign.File{Name: "bad.log", Open: func() (io.ReadCloser, error) { return io.NopCloser(io.MultiReader(bytes.NewReader(good), bad{})), nil }}, "bad.log: input/output error"},
	}
	for name, test := range tests {
		err := foreign.Audit([]foreign.File{fileOf("good.log", good), test.file}, io.Discard, foreign.Options{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// bad is a disk that cannot be read.
type bad struct{}

func (bad) Read([]byte) (int, error) { return 0, errors.New("input/output error") }

// TestFullDisk returns the error of the file.
func TestFullDisk(t *testing.T) {
	log := logOf(line{at: 1, verb: "get", ref: "/configmaps/web/a", response: configMap(1, "", "")})
	for _, room := range []int{0, 100, 300} {
		if err := foreign.Audit([]foreign.File{fileOf("audit.log", log)}, &full{room: room}, foreign.Options{}); !errors.Is(err, errFull) {
			t.Errorf("with room for %d bytes: %v", room, err)
		}
	}
}

var errFull = errors.New("no space left on device")

// full is a disk with room for so many bytes.
type full struct{ room int }

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestLimits goes on behind a line, an object and a nesting that are too large, and says that something is missing.
func TestLimits(t *testing.T) {
	fine := line{at: 9, verb: "get", ref: "/configmaps/web/a", response: configMap(9, "", "")}
	t.Run("line", func(t *testing.T) {
		got := imported(t, text(`{"a":"`+strings.Repeat("x", 33<<20)+`"}`), fine)
		if len(got.calls) != 1 || !slices.Contains(got.unseen, "1 lines are no events of audit.k8s.io/v1, and left out") {
			t.Errorf("%d calls, %v", len(got.calls), got.unseen)
		}
	})
	t.Run("object", func(t *testing.T) {
		got := imported(t, line{at: 1, verb: "get", ref: "/configmaps/web/b", response: configMap(1, "", strings.Repeat("x", 17<<20))}, fine)
		if len(got.calls) != 1 || len(got.gaps) != 1 || got.gaps[0].Reason != live.TooLarge || got.gaps[0].Entries != 1 {
			t.Errorf("%d calls, gaps %v", len(got.calls), got.gaps)
		}
	})
	t.Run("nesting", func(t *testing.T) {
		deep := strings.Repeat(`[`, 20_000) + strings.Repeat(`]`, 20_000)
		got := imported(t, text(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","responseObject":`+deep+`}`), fine)
		if len(got.calls) != 1 || !slices.Contains(got.unseen, "1 lines are no events of audit.k8s.io/v1, and left out") {
			t.Errorf("%d calls, %v", len(got.calls), got.unseen)
		}
	})
	t.Run("times", func(t *testing.T) {
		late := line{at: 5, verb: "get", ref: "/configmaps/web/a", response: configMap(5, "", "")}.String()
		late = strings.NewReplacer(`"requestReceivedTimestamp":"2026`, `"requestReceivedTimestamp":"9026`, `"stageTimestamp":"2026`, `"stageTimestamp":"9926`).Replace(late)
		got := imported(t, fine, text(late), line{at: 10, verb: "delete", ref: "/configmaps/web/a", response: `{"kind":"Status"}`})
		for _, e := range got.events {
			if e.At < 0 {
				t.Errorf("something happens at %v", e.At)
			}
		}
		if got.end < 0 || len(got.calls) != 3 || len(got.events) != 1 {
			t.Errorf("%d calls, %d events, the end at %v", len(got.calls), len(got.events), got.end)
		}
	})
}
