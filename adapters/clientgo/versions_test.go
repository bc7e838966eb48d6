package clientgo_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/clientgo"
)

// seer notes a version in an object, and keeps something of what it wrote in memory.
type seer struct{ last string }

// TestVersionsInMemory: a report says where a controller keeps resource versions.
func TestVersionsInMemory(t *testing.T) {
	for _, test := range []struct {
		name  string
		keeps func(*corev1.ConfigMap) string
		want  bool
	}{
		{"a version", func(m *corev1.ConfigMap) string { return m.ResourceVersion }, true},
		{"a name", func(m *corev1.ConfigMap) string { return m.Name }, false},
	} {
		system := clientgo.ForTest(t, scheme.Scheme, clientgo.ObjectValues(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}), clientgo.Setup(func(e *clientgo.Environment) error {
			client, err := kubernetes.NewForConfig(e.Config())
			if err != nil {
				return err
			}
			configMaps, err := e.Informer(&corev1.ConfigMap{}, "", nil)
			if err != nil {
				return err
			}
			queue, err := clientgo.NewQueue[string](e)
			if err != nil {
				return err
			}
			if _, err := configMaps.AddEventHandler(cache.ResourceEventHandlerFuncs{
				AddFunc: func(any) { queue.Add("web") }, UpdateFunc: func(_, _ any) { queue.Add("web") },
			}); err != nil {
				return err
			}
			c := &seer{}
			clientgo.Sync(e, "seer", c, queue, func(ctx context.Context, _ string) error {
				object, err := client.CoreV1().ConfigMaps("default").Get(ctx, "web", metav1.GetOptions{})
				if err != nil || object.Data["seen"] != "" {
					return err
				}
				object.Data = map[string]string{"seen": "yes"}
				if object, err = client.CoreV1().ConfigMaps("default").Update(ctx, object, metav1.UpdateOptions{}); err == nil {
					c.last = test.keeps(object)
				}
				return err
			})
			return nil
		}))
		result, err := orrery.Run(t.Context(), system, orrery.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if memory := result.Report.Memory; len(memory) != 1 || memory[0].Versions != test.want {
			t.Errorf("with %s, the memory is %+v", test.name, memory)
		}
	}
}
