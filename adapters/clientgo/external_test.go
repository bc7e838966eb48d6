package clientgo_test

import (
	"context"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/clientgo"
	"github.com/orrery-dev/orrery/adapters/external/cloud"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// TestExternal checks a mirror that also creates an instance in a cloud for each Secret, before it creates that: if the
// answer is lost, a second one is created, unless the first is asked for again with its token.
func TestExternal(t *testing.T) {
	for _, token := range []string{"", "of "} {
		c := cloud.New(cloud.Lag(1))
		twice := properties.NoDuplicates(c.Kind(), func(fields any) string {
			tree, _ := fields.(map[string]any)
			name, _ := tree["name"].(string)
			return name
		})
		r := check(t, orrery.Options{Failures: 1},
			clientgo.External(c),
			clientgo.ObjectValues(configMap("a", "1")),
			clientgo.Properties(twice),
			clientgo.Setup(func(e *clientgo.Environment) error {
				asked, err := c.Client(e.Config())
				if err != nil {
					return err
				}
				client, err := kubernetes.NewForConfig(e.Config())
				if err != nil {
					return err
				}
				factory := informers.NewSharedInformerFactory(client, time.Minute)
				if err := e.Fill(factory); err != nil {
					return err
				}
				m := newMirror(e.Context(), client, factory)
				factory.Start(e.Context().Done())
				queue, err := clientgo.QueueIn[string](e, m)
				if err != nil {
					return err
				}
				clientgo.Sync(e, "mirror", m, queue, func(ctx context.Context, key string) error {
					if secrets, err := client.CoreV1().Secrets("default").List(ctx, metav1.ListOptions{}); err != nil || len(secrets.Items) > 0 {
						return err
					}
					request := cloud.Request{Name: key}
					if token != "" {
						request.Token = token + key
					}
					if _, err := asked.Create(ctx, request); err != nil {
						return err
					}
					return m.sync(ctx, key)
				})
				return nil
			}))
		found := slices.ContainsFunc(r.Findings, func(f core.Finding) bool { return f.Property == twice.Name })
		if wants := token == ""; found != wants || !wants && r.Verdict != core.Holds || len(r.Reasons) > 0 {
			t.Errorf("token %q: %s, an instance is there twice: %t; %v %v", token, r.Verdict, found, r.Reasons, summaries(r))
		}
	}
}
