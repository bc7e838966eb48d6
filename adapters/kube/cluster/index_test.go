package cluster

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// TestIndexesOfCachesAreNotSent checks that what a cache finds in an index is chosen from
// all that the server has.
func TestIndexesOfCachesAreNotSent(t *testing.T) {
	const path = "/api/v1/namespaces/default/configmaps"
	c, a := newCluster(t)
	server, err := c.server.WithFieldIndexes(kube.FieldIndex{Kind: configMapKind, Field: "colour", Values: func(object json.RawMessage) ([]string, error) {
		var o struct{ Data struct{ Colour string } }
		err := json.Unmarshal(object, &o)
		return []string{o.Data.Colour}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	c.server = server
	a.answers["GET "+path] = answer{http.StatusOK, `{"items":[` +
		`{"metadata":{"namespace":"default","name":"a"},"data":{"colour":"red"}},{"metadata":{"namespace":"default","name":"b"},"data":{"colour":"blue"}}]}`}
	list := &kube.Request{Verb: kube.List, Kind: configMapKind, Namespace: "default", FieldSelector: "colour=red", FromCache: true}
	response, err := c.Do(context.Background(), list, core.RecordedCall{})
	if err != nil {
		t.Fatal(err)
	}
	if response.String() != "1 item" || !strings.Contains(response.Identity(), `"name":"a"`) {
		t.Errorf("got %s: %s", response, response.Identity())
	}
	if want := []exchanged{{method: "GET", path: path}}; !reflect.DeepEqual(a.asked, want) {
		t.Errorf("sent %+v, want %+v", a.asked, want)
	}
	list.FieldSelector = "size=1"
	if _, err := c.Do(context.Background(), list, core.RecordedCall{}); err == nil || !strings.Contains(err.Error(), "caches have no index size of ConfigMap") {
		t.Errorf("error %v", err)
	}
}

// TestControllersAreNotSent checks that what belongs to a controller is chosen from all that the server has.
func TestControllersAreNotSent(t *testing.T) {
	const path = "/api/v1/namespaces/default/configmaps"
	c, a := newCluster(t)
	a.answers["GET "+path] = answer{http.StatusOK, `{"items":[{"metadata":{"namespace":"default","name":"a"}},` +
		`{"metadata":{"namespace":"default","name":"b","ownerReferences":[{"uid":"1","controller":true}]}},` +
		`{"metadata":{"namespace":"default","name":"c","ownerReferences":[{"uid":"1"},{"uid":"2","controller":true}]}}]}`}
	response, err := c.Do(context.Background(), &kube.Request{Verb: kube.List, Kind: configMapKind, Namespace: "default", ControlledBy: "1"}, core.RecordedCall{})
	if err != nil {
		t.Fatal(err)
	}
	if response.String() != "1 item" || !strings.Contains(response.Identity(), `"name":"b"`) {
		t.Errorf("got %s: %s", response, response.Identity())
	}
	if want := []exchanged{{method: "GET", path: path}}; !reflect.DeepEqual(a.asked, want) {
		t.Errorf("sent %+v, want %+v", a.asked, want)
	}
}
