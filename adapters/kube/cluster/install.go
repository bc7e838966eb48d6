package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/orrery-dev/orrery/adapters/kube"
)

// serving bounds how long the server may take to serve a new kind.
const serving = 30 * time.Second

// Install creates the custom resource definitions that the simulated server was made
// with, and returns when their kinds are served.
func (c *Cluster) Install(ctx context.Context) error {
	for _, d := range c.server.Definitions() {
		if err := c.define(ctx, d); err != nil {
			return fmt.Errorf("defining %s: %w", d.Name, err)
		}
	}
	for _, d := range c.server.Definitions() {
		kind := schema.GroupVersionKind{Group: d.Spec.Group, Kind: d.Spec.Names.Kind}
		for _, version := range d.Spec.Versions {
			if !version.Served {
				continue
			}
			kind.Version = version.Name
			if err := c.awaitServed(ctx, kind); err != nil {
				return err
			}
		}
	}
	return nil
}

// define creates a definition. The mapper of the simulated server does not know the
// kind of definitions, so it is asked for nothing here.
func (c *Cluster) define(ctx context.Context, d *apiextensionsv1.CustomResourceDefinition) error {
	d = d.DeepCopy()
	d.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	d.TypeMeta.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	// Nobody is there to convert between versions.
	d.Spec.Conversion = nil
	body, err := json.Marshal(d)
	if err != nil {
		return err
	}
	response, err := c.exchange(ctx, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", nil, body, "application/json")
	if err != nil {
		return err
	}
	if err := response.Err(); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// awaitServed returns when objects of the kind can be listed.
func (c *Cluster) awaitServed(ctx context.Context, kind schema.GroupVersionKind) error {
	ctx, cancel := context.WithTimeoutCause(ctx, serving, fmt.Errorf("%s is not served after %s", kind, serving))
	defer cancel()
	const pause = 50 * time.Millisecond
	for {
		response, err := c.send(ctx, &kube.Request{Verb: kube.List, Kind: kind, Limit: 1})
		if err == nil && response.Err() == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}
