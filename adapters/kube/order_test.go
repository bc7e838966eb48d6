package kube

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

func numberOf(t interface{ Fatal(...any) }, content core.Content) uint64 {
	n, err := strconv.ParseUint(content.(core.Tagged).Tag(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestOrderedVersions: of versions that somebody refers to, the newer one is the larger number, whatever becomes of the
// object, and however often they are counted anew.
func TestOrderedVersions(t *testing.T) {
	server := newTestServer(t).Ordered().(*Server)
	key := keyOfWidget("a")
	rapid.Check(t, func(t *rapid.T) {
		w := &alone{key: key}
		for range rapid.IntRange(1, 8).Draw(t, "writes") {
			color := rapid.SampledFrom([]string{"red", "green", "blue"}).Draw(t, "color")
			request := &Request{Verb: Create, Kind: widgetKind, Namespace: "default", Body: fmt.Appendf(nil, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"color":%q}}`, color)}
			if w.now != nil {
				request = &Request{Verb: Patch, PatchType: types.MergePatchType, Kind: widgetKind, Namespace: "default", Name: "a", Body: fmt.Appendf(nil, `{"spec":{"color":%q}}`, color)}
			}
			answer, err := server.Answer(w, request)
			if err != nil || answer.Response.(*Response).Err() != nil {
				t.Fatal(err, answer.Response)
			}
			for _, write := range answer.Writes {
				if write.Key != key {
					continue
				}
				if w.now != nil && rapid.Bool().Draw(t, "held") {
					w.held = append(w.held, w.now)
				}
				if w.now != nil && numberOf(t, write.Content) <= numberOf(t, w.now) {
					t.Fatalf("%s comes after %s", write.Content.(core.Tagged).Tag(), w.now.(core.Tagged).Tag())
				}
				w.now = write.Content
			}
			if len(w.held) > 0 && rapid.Bool().Draw(t, "let go") {
				i := rapid.IntRange(0, len(w.held)-1).Draw(t, "which")
				w.held = slices.Delete(w.held, i, i+1)
			}
			all := append(slices.Clone(w.held), w.now)
			pinned := make([]bool, len(all))
			for i := range w.held {
				pinned[i] = rapid.Bool().Draw(t, "pinned")
			}
			settled := server.Normalize(key, all, pinned)
			for i, version := range settled {
				if pinned[i] && version.Canonical() != all[i].Canonical() {
					t.Fatalf("%s is pinned, and becomes %s", all[i].Canonical(), version.Canonical())
				}
				if i > 0 && numberOf(t, version) <= numberOf(t, settled[i-1]) {
					t.Fatalf("version %d of %v comes no later", i, settled)
				}
				if !slices.Contains(pinned, true) && storage.Of(version).Again != i {
					t.Fatalf("version %d has number %d", i, storage.Of(version).Again)
				}
			}
			again := server.Normalize(key, settled, pinned)
			for i := range again {
				if again[i].Canonical() != settled[i].Canonical() {
					t.Fatalf("counted twice: %s, once: %s", again[i].Canonical(), settled[i].Canonical())
				}
			}
			w.held, w.now = settled[:len(settled)-1], settled[len(settled)-1]
		}
	})
}

// alone is a world with one object, of which others refer to versions.
type alone struct {
	key  core.Key
	now  core.Content
	held []core.Content
}

func (a *alone) Get(key core.Key) core.Content {
	if key != a.key || a.now == nil {
		return nil
	}
	return a.now
}

func (a *alone) List(kind core.Kind, _ string) []core.Object {
	if kind != a.key.Kind || a.now == nil {
		return nil
	}
	return []core.Object{{Key: a.key, Content: a.now}}
}

func (a *alone) Held(key core.Key) []core.Content {
	if key != a.key {
		return nil
	}
	return a.held
}

// TestRetagged: with other names of versions, objects, answers and refusals name these wherever they named the others,
// and are the same but for that.
func TestRetagged(t *testing.T) {
	server := newTestServer(t)
	w := &alone{key: keyOfWidget("a")}
	body := []byte(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"color":"red"}}`)
	created, err := server.Answer(w, &Request{Verb: Create, Kind: widgetKind, Namespace: "default", Body: body})
	if err != nil || created.Response.(*Response).Err() != nil {
		t.Fatal(err, created.Response)
	}
	version := created.Response.(*Response).Versions()[0].Content.(core.Tagged)
	names := core.NewRetagging(map[string]string{version.Tag(): "42"})
	other := created.Response.(*Response).Retagged(names)
	if want := strings.ReplaceAll(created.Response.Identity(), version.Tag(), "42"); other.Identity() != want || !strings.Contains(want, `"resourceVersion":"42"`) {
		t.Errorf("it answers %s, want %s", other.Identity(), want)
	}
	content := version.Retagged(names).(*storage.Object)
	if content.Tag() != "42" || content.Canonical() != version.Canonical() {
		t.Errorf("it is %s with version %s", content.Canonical(), content.Tag())
	}
	noted := storage.New(map[string]any{"metadata": map[string]any{"annotations": map[string]any{"seen": "at " + version.Tag()}}}, 3)
	if got := storage.Of(noted.Retagged(names)).Text; !strings.Contains(got, `"at 42"`) || noted.Retagged(names).(core.Tagged).Tag() != noted.Tag() {
		t.Errorf("what names a version is %s", got)
	}
	w.now = version
	stale := []byte(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","resourceVersion":"1"},"spec":{"color":"blue"}}`)
	refused, err := server.Answer(w, &Request{Verb: Update, Kind: widgetKind, Namespace: "default", Name: "a", Body: stale})
	if err != nil || refused.Response.(*Response).Err() == nil {
		t.Fatal(err, refused.Response)
	}
	if same := refused.Response.(*Response).Retagged(names); same.Identity() != refused.Response.Identity() {
		t.Errorf("a refusal that names no version is %s, and was %s", same.Identity(), refused.Response.Identity())
	}
}
