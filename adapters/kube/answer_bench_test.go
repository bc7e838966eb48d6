package kube

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

func BenchmarkAnswer(b *testing.B) {
	w := newWorld(b)
	w.widget("a", tree{"spec": tree{"size": 3}})
	w.must(creation(deploymentKind, tree{"name": "d"}, nil))
	d := w.must(request(Get, deploymentKind, "d"))
	d.SetLabels(map[string]string{"x": "1"})
	for _, r := range []*Request{
		request(Get, widgetKind, "a"),
		request(List, widgetKind, ""),
		creation(widgetKind, tree{"name": "b"}, nil),
		patching(widgetKind, "a", types.MergePatchType, `{"spec":{"size":4}}`),
		updating(deploymentKind, d),
		applying(widgetKind, "a", "m", tree{"spec": tree{"color": "red"}}),
		applying(deploymentKind, "d", "m", tree{"metadata": tree{"name": "d", "labels": tree{"x": "1"}}}),
		request(Delete, widgetKind, "a"),
	} {
		b.Run(r.String(), func(b *testing.B) {
			quiet := emptyWorld(b, w.server)
			quiet.objects = w.objects
			for b.Loop() {
				quiet.reads = quiet.reads[:0]
				if _, err := w.server.Answer(quiet, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("settle", func(b *testing.B) {
		key := keyOfWidget("a")
		content := w.objects[key].(*storage.Object)
		for b.Loop() {
			var _ core.Content = w.server.Normalize(key, []core.Content{content}, nil)[0]
		}
	})
}
