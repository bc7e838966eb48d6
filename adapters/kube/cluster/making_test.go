package cluster

import (
	"cmp"
	"context"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// TestMaking creates objects: what a server chooses by chance must be as it was recorded.
func TestMaking(t *testing.T) {
	const recordedUID = "aaaaaaaa-0000-4000-8000-000000000001"
	key := core.Key{Kind: "ConfigMap", Namespace: "default", Name: "a-001"}
	created := func(path string, to any) []core.TraceChange {
		return []core.TraceChange{
			{Kind: "Secret", Namespace: "default", Name: "a-001", Verb: "created", Fields: []core.FieldChange{{To: node{"metadata": node{"uid": "another"}}}}},
			{Kind: key.Kind, Namespace: key.Namespace, Name: key.Name, Verb: "created", Fields: []core.FieldChange{{Path: path, To: to}}},
		}
	}
	tests := []struct {
		name    string
		body    string
		creates []core.Key
		changes []core.TraceChange
		// named is the name in what is sent, uid that of what comes back; empty if it is one of the server's.
		named, uid string
	}{
		{"a generated name", `{"metadata":{"generateName":"a-"}}`, []core.Key{key}, nil, "a-001", ""},
		{"with its uid", `{"metadata":{"generateName":"a-"}}`, []core.Key{key}, created("", node{"metadata": node{"uid": recordedUID}}), "a-001", recordedUID},
		{"created anew", `{"metadata":{"name":"a-001"}}`, []core.Key{key}, created("metadata.uid", recordedUID), "a-001", recordedUID},
		{"a name of its own", `{"metadata":{"name":"b","generateName":"a-"}}`, []core.Key{key}, nil, "b", ""},
		{"nothing recorded", `{"metadata":{"generateName":"a-"}}`, nil, nil, "", ""},
		{"something else recorded", `{"metadata":{"generateName":"a-"}}`, []core.Key{{Kind: "Secret", Name: "a-001"}}, nil, "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, a := newCluster(t)
			request := &kube.Request{Verb: kube.Create, Kind: configMapKind, Namespace: "default", Body: []byte(test.body)}
			response, err := c.Do(context.Background(), request, core.RecordedCall{TraceCall: core.TraceCall{Creates: test.creates}, Changes: test.changes})
			if err != nil || response.String() != "ok" {
				t.Fatalf("response %v, error %v", response, err)
			}
			sent, err := tree([]byte(a.asked[0].body))
			if err != nil {
				t.Fatal(err)
			}
			if name, _ := metadata(sent)["name"].(string); name != test.named {
				t.Errorf("sent the name %q, want %q", name, test.named)
			}
			shown, err := tree(response.(*kube.Response).Object)
			if err != nil {
				t.Fatal(err)
			}
			given := "00000000-0000-4000-8000-000000000001"
			if want := cmp.Or(test.uid, given); uidOf(shown) != want {
				t.Errorf("its uid is %q, want %q", uidOf(shown), want)
			}
		})
	}
}

// TestUIDsAreTranslated refers to an object by the uid that controllers know it by.
func TestUIDsAreTranslated(t *testing.T) {
	const (
		recorded = "aaaaaaaa-0000-4000-8000-000000000001"
		path     = "/api/v1/namespaces/default/configmaps/of-"
	)
	c, a := newCluster(t)
	ctx := context.Background()
	if err := c.Populate(ctx, []core.TraceObject{with(placed("ConfigMap", "v1", "default", "a"), node{"uid": recorded})}); err != nil {
		t.Fatal(err)
	}
	real := uidOf(a.objects["/api/v1/namespaces/default/configmaps/a"])
	if real == "" || real == recorded {
		t.Fatalf("its real uid is %q", real)
	}
	do := func(request *kube.Request) string {
		response, err := c.Do(ctx, request, core.RecordedCall{})
		if err != nil {
			t.Fatal(err)
		}
		return response.Identity()
	}
	request := &kube.Request{Verb: kube.Get, Kind: configMapKind, Namespace: "default", Name: "a"}
	if shown := do(request); !strings.Contains(shown, recorded) || strings.Contains(shown, real) {
		t.Errorf("shown is %s", shown)
	}
	do(&kube.Request{Verb: kube.Create, Kind: configMapKind, Namespace: "default", Body: []byte(`{"metadata":{"name":"of-` + recorded + `"},"data":{"owner":"` + recorded + `"}}`)})
	if owned := a.objects[path+real]; owned == nil || owned["data"].(node)["owner"] != real {
		t.Errorf("created was %v", owned)
	}
	if shown := do(&kube.Request{Verb: kube.Get, Kind: configMapKind, Namespace: "default", Name: "of-" + recorded}); !strings.Contains(shown, `"owner":"`+recorded) {
		t.Errorf("shown is %s", shown)
	}
	do(&kube.Request{Verb: kube.List, Kind: configMapKind, LabelSelector: "owner=" + recorded})
	if got, want := a.asked[len(a.asked)-1].query, "labelSelector=owner%3D"+real; got != want {
		t.Errorf("asked for %q, want %q", got, want)
	}
}

func TestUIDs(t *testing.T) {
	const one, two, three = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222", "33333333-3333-4333-8333-333333333333"
	u := newUIDs()
	u.pair(one, two)
	for _, test := range []struct{ text, real string }{
		{"", ""}, {"no uid", "no uid"}, {one, two}, {"a" + one + "b, " + three + "," + one, "a" + two + "b, " + three + "," + two}, {one[1:], one[1:]},
	} {
		if got := u.toReal(test.text); got != test.real {
			t.Errorf("%q is really %q, want %q", test.text, got, test.real)
		}
		if got := u.toRecorded(test.real); got != test.text {
			t.Errorf("%q is recorded as %q, want %q", test.real, got, test.text)
		}
	}
	if u.same(three, one) || u.same(two, three) || u.same(one, three) {
		t.Error("a uid of one object is taken for another's")
	}
	u.pair(one, three)
	if u.toRecorded(two) != two || u.toRecorded(three) != one || u.toReal(one) != three {
		t.Errorf("after another object of that uid: %v", u)
	}
}
