package cluster

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// behind is how a read is recorded that a view answered which was some of so many changes of ConfigMaps behind.
func behind(changes, of int) core.RecordedCall {
	lags := []core.TraceLag{{Kind: "Secret", Changes: 7, Of: 8}}
	if changes > 0 {
		lags = append(lags, core.TraceLag{Kind: "ConfigMap", Changes: changes, Of: of})
	}
	return core.RecordedCall{TraceCall: core.TraceCall{Behind: lags}}
}

// TestRecall reads what there was before the latest changes of a kind.
func TestRecall(t *testing.T) {
	const configMaps = "/api/v1/namespaces/default/configmaps/"
	c, a := newCluster(t)
	ctx := context.Background()
	if err := c.Populate(ctx, []core.TraceObject{placed("ConfigMap", "v1", "default", "a")}); err != nil {
		t.Fatal(err)
	}
	configMap := func(name, colour string) node {
		return node{"metadata": node{"namespace": "default", "name": name}, "data": node{"colour": colour}}
	}
	a.write(configMaps+"a", configMap("a", "red"))
	a.write("/api/v1/namespaces/default/secrets/s", node{"metadata": node{"name": "s"}})
	a.write("/api/v1/namespaces/kube-system/configmaps/own", node{"metadata": node{"namespace": "kube-system", "name": "own"}})
	a.write(configMaps+"b", configMap("b", "blue"))
	a.write(configMaps+"b", configMap("b", "green"))
	a.write(configMaps+"b", nil)
	a.write("/api/v1/namespaces/default/secrets/s", nil)
	a.write(configMaps+"a", nil)
	a.write(configMaps+"a", configMap("a", "white"))

	get := func(name string) kube.Request {
		return kube.Request{Verb: kube.Get, Kind: configMapKind, Namespace: "default", Name: name, FromCache: true}
	}
	list := kube.Request{Verb: kube.List, Kind: configMapKind, FromCache: true}
	live := get("a")
	live.FromCache = false
	tests := []struct {
		name    string
		request kube.Request
		behind  int
		// want is the response in words, colours are those of what it shows, in order.
		want, colours string
	}{
		{"now", get("a"), 0, "ok", "white"},
		{"it is gone, and not yet made anew", get("a"), 1, `404 NotFound: ConfigMap "a" not found`, ""},
		{"not yet gone", get("a"), 2, "ok", "red"},
		{"not for others", get("b"), 2, `404 NotFound: ConfigMap "b" not found`, ""},
		{"a deletion not seen", get("b"), 3, "ok", "green"},
		{"a change not seen", get("b"), 4, "ok", "blue"},
		{"a creation not seen", get("b"), 5, `404 NotFound: ConfigMap "b" not found`, ""},
		{"the start", get("a"), 6, "ok", ""},
		{"a list now", list, 0, "1 item", "white"},
		{"an empty list", list, 1, "0 items", ""},
		{"a list of one", list, 2, "1 item", "red"},
		{"a list of two", list, 3, "2 items", "red green"},
		{"a list of the two as they were", list, 4, "2 items", "red blue"},
		{"no stale view for live reads", live, 1, "ok", "white"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			response, err := c.Do(ctx, &test.request, behind(test.behind, 6))
			if err != nil {
				t.Fatal(err)
			}
			if response.String() != test.want {
				t.Errorf("response %q, want %q", response, test.want)
			}
			if got := coloursOf(t, response.(*kube.Response)); got != test.colours {
				t.Errorf("it shows %q, want %q", got, test.colours)
			}
		})
	}
	for _, lag := range [][2]int{{1, 5}, {1, 7}, {7, 7}, {7, 6}} {
		request := get("a")
		_, err := c.Do(ctx, &request, behind(lag[0], lag[1]))
		var difference core.DeviationError
		if !errors.As(err, &difference) || !strings.Contains(err.Error(), "the real server has made 6 changes of ConfigMap, where ") {
			t.Errorf("%d of %d: error %v", lag[0], lag[1], err)
		}
	}
	// The history goes on where it was read last.
	a.write(configMaps+"a", configMap("a", "black"))
	request := get("a")
	response, err := c.Do(ctx, &request, behind(1, 7))
	if err != nil {
		t.Fatal(err)
	}
	if got := coloursOf(t, response.(*kube.Response)); got != "white" {
		t.Errorf("after another change it shows %q", got)
	}
}

// coloursOf returns the colours of an object, or of the items of a list.
func coloursOf(t *testing.T, response *kube.Response) string {
	t.Helper()
	if response.Status != nil {
		return ""
	}
	fields, err := tree(response.Object)
	if err != nil {
		t.Fatal(err)
	}
	items, isList := fields["items"].([]any)
	if !isList {
		items = []any{fields}
	}
	var colours []string
	for _, item := range items {
		if data, ok := item.(node)["data"].(node); ok {
			colours = append(colours, data["colour"].(string))
		}
		if kind := item.(node)["kind"]; kind != "ConfigMap" && response.String() != "ok" {
			t.Errorf("an item of the kind %v", kind)
		}
	}
	return strings.Join(colours, " ")
}

// TestRecallFails asks a server that has forgotten what there was.
func TestRecallFails(t *testing.T) {
	const configMaps = "GET /api/v1/namespaces/default/configmaps"
	request := &kube.Request{Verb: kube.List, Kind: configMapKind, Namespace: "default", FromCache: true}
	expired := answer{410, `{"kind":"Status","reason":"Expired","code":410,"message":"too old"}`}
	for _, place := range []string{"GET /api/v1/namespaces", "GET /api/v1/configmaps", configMaps} {
		c, a := newCluster(t)
		if err := c.Populate(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		a.write("/api/v1/namespaces/default/configmaps/a", node{"metadata": node{"namespace": "default", "name": "a"}})
		a.answers[place] = expired
		response, err := c.Do(context.Background(), request, behind(1, 1))
		if place == configMaps {
			if err != nil || response.String() != "410 Expired: too old" {
				t.Errorf("%s: response %v, error %v", place, response, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), "too old") {
			t.Errorf("%s: error %v", place, err)
		}
		a.answers[place] = answer{200, `[]`}
		if _, err := c.Do(context.Background(), request, behind(1, 1)); err == nil {
			t.Errorf("%s: no error for an answer that is no list", place)
		}
	}
}
