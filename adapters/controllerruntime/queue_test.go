package controllerruntime

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestRequestsSurviveBeingWritten(t *testing.T) {
	name := rapid.StringMatching(`[a-z0-9]([-a-z0-9.]{0,20}[a-z0-9])?`)
	rapid.Check(t, func(t *rapid.T) {
		request := reconcile.Request{NamespacedName: types.NamespacedName{
			Namespace: rapid.OneOf(rapid.Just(""), name).Draw(t, "namespace"),
			Name:      name.Draw(t, "name"),
		}}
		if got := decode(encode(request)); got != request {
			t.Fatalf("got %v, want %v", got, request)
		}
	})
}
