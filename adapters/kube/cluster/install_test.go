package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const (
	definitions = "POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	nothing     = `{"items":[]}`
)

func served() map[string]answer {
	return map[string]answer{
		definitions:                             {201, `{}`},
		"GET /apis/example.com/v1/widgets":      {200, nothing},
		"GET /apis/example.com/v1beta1/widgets": {200, nothing},
		"GET /apis/example.com/v1/gadgets":      {200, nothing},
		"GET /apis/example.com/v1beta1/gadgets": {200, nothing},
		"GET /apis/example.com/v1/fleets":       {200, nothing},
	}
}

func TestInstall(t *testing.T) {
	c, a := newCluster(t)
	a.answers = served()
	if err := c.Install(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := []string{definitions + "/fleets.example.com", definitions + "/gadgets.example.com", definitions + "/widgets.example.com"}
	for _, kind := range []string{"v1/widgets", "v1beta1/widgets", "v1/gadgets", "v1beta1/gadgets", "v1/fleets"} {
		want = append(want, "GET /apis/example.com/"+kind)
	}
	got := a.log()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("sent %q, want %q", got, want)
	}
	var sent apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal([]byte(a.asked[0].body), &sent); err != nil {
		t.Fatal(err)
	}
	if sent.Kind != "CustomResourceDefinition" || sent.APIVersion != "apiextensions.k8s.io/v1" || sent.Spec.Conversion != nil || sent.Name == "" {
		t.Errorf("sent %s", a.asked[0].body)
	}
}

// TestInstallWaits lets a kind be served only some time after it was defined.
func TestInstallWaits(t *testing.T) {
	c, a := newCluster(t)
	a.answers = served()
	const fleets = "GET /apis/example.com/v1/fleets"
	delete(a.answers, fleets)
	time.AfterFunc(120*time.Millisecond, func() {
		a.lock.Lock()
		defer a.lock.Unlock()
		a.answers[fleets] = answer{200, nothing}
	})
	if err := c.Install(context.Background()); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, line := range a.log() {
		if line == fleets {
			asked++
		}
	}
	if asked < 2 {
		t.Errorf("asked %d times for fleets, want more", asked)
	}
}

func TestInstallFails(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		c, a := newCluster(t)
		a.answers[definitions] = answer{422, `{"kind":"Status","reason":"Invalid","code":422,"message":"no such thing"}`}
		if err := c.Install(context.Background()); err == nil || !strings.Contains(err.Error(), "defining ") || !strings.Contains(err.Error(), "no such thing") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		c, a := newCluster(t)
		a.answers[definitions] = answer{201, `{}`}
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(100*time.Millisecond, cancel)
		if err := c.Install(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("there already", func(t *testing.T) {
		c, a := newCluster(t)
		a.answers = served()
		a.answers[definitions] = answer{409, `{"kind":"Status","reason":"AlreadyExists","code":409}`}
		if err := c.Install(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
