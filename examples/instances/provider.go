package instances

import (
	"context"

	"github.com/orrery-dev/orrery/adapters/external"
	"github.com/orrery-dev/orrery/adapters/external/cloud"
)

// provider is the simulated cloud as the controller sees it: what stands here in place of the client of a real one.
type provider struct{ cloud *cloud.Client }

var _ Provider = provider{}

// Create implements [Provider].
func (p provider) Create(ctx context.Context, name, token string) (string, error) {
	instance, err := p.cloud.Create(ctx, cloud.Request{Name: name, Tags: map[string]string{"machine": name}, Token: token})
	return instance.ID, err
}

// Find implements [Provider].
func (p provider) Find(ctx context.Context, name string) (string, error) {
	found, err := p.cloud.List(ctx, map[string]string{"machine": name})
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0].ID, nil
}

// Runs implements [Provider].
func (p provider) Runs(ctx context.Context, id string) (bool, error) {
	instance, err := p.cloud.Get(ctx, id)
	if external.CodeOf(err) == cloud.NotFound {
		return false, nil // not shown yet
	}
	return instance.State == cloud.Running, err
}

// Delete implements [Provider].
func (p provider) Delete(ctx context.Context, id string) error { return p.cloud.Delete(ctx, id) }
