package conformance

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// Fake is controller-runtime's fake client, set up as its documentation tells.
type Fake struct {
	mapper   meta.RESTMapper
	subjects []Subject
}

// NewFake returns fake clients for all subjects.
func NewFake(mapper meta.RESTMapper, subjects []Subject) *Fake {
	return &Fake{mapper: mapper, subjects: subjects}
}

// Begin starts a run with an empty fake client.
func (f *Fake) Begin(ctx context.Context, suffix string) (*Side, error) {
	scheme, err := NewScheme()
	if err != nil {
		return nil, err
	}
	var withStatus []client.Object
	for _, s := range f.subjects {
		if s.Status {
			object := &unstructured.Unstructured{}
			object.SetGroupVersionKind(s.Kind())
			withStatus = append(withStatus, object)
		}
	}
	clients := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(f.mapper).WithStatusSubresource(withStatus...).Build()
	side := &Side{client: clients, scheme: scheme, subjects: f.subjects, suffix: suffix}
	return side, side.begin(ctx)
}
