package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// Populate creates the objects that a run starts with, owners before what they own, and the namespaces they are in.
// They get uids of the server's own; references to owners follow. Objects that were being deleted are deleted, once all
// are there. What is there then is the start of the run. If the simulated server has objects of different ages, those
// that were created later there are created in a later second.
func (c *Cluster) Populate(ctx context.Context, objects []core.TraceObject) error {
	if err := c.namespaces(ctx, objects); err != nil {
		return err
	}
	waiting, latest := slices.Clone(objects), ""
	if c.tellsAges() {
		slices.SortStableFunc(waiting, func(a, b core.TraceObject) int { return cmp.Compare(createdAt(a), createdAt(b)) })
	}
	for len(waiting) > 0 {
		var later []core.TraceObject
		for _, object := range waiting {
			fields, ok := object.Fields.(map[string]any)
			if !ok {
				return fmt.Errorf("%s has no fields", object.Key())
			}
			fields = runtime.DeepCopyJSON(fields)
			if c.homeless(object, objects) || !c.rename(fields) {
				later = append(later, object)
				continue
			}
			if at := createdAt(object); c.tellsAges() && at != latest {
				if err := nextSecond(ctx); err != nil {
					return err
				}
				latest = at
			}
			uid, err := c.create(ctx, object.Key(), fields)
			if err != nil {
				return fmt.Errorf("creating %s: %w", object.Key(), err)
			}
			c.populated[object.Key()] = true
			if recorded, ok := metadata(object.Fields)["uid"].(string); ok {
				c.uids.pair(recorded, uid)
			}
		}
		if len(later) == len(waiting) {
			return fmt.Errorf("%s cannot be created on a real server: an owner, its own or that of its namespace, is not there", later[0].Key())
		}
		waiting = later
	}
	for _, object := range objects {
		if err := c.condemn(ctx, object); err != nil {
			return fmt.Errorf("deleting %s: %w", object.Key(), err)
		}
	}
	var err error
	c.start, err = c.revision(ctx)
	return err
}

// tellsAges reports whether the simulated server has objects of different ages.
func (c *Cluster) tellsAges() bool { return len(c.server.Ages()) > 0 }

// createdAt returns when an object was created, as a text that is in the order of time.
func createdAt(object core.TraceObject) string {
	at, _ := metadata(object.Fields)["creationTimestamp"].(string)
	return at
}

// nextSecond waits until what is created is younger than all that was created before: a server says when in whole
// seconds.
func nextSecond(ctx context.Context) error {
	select {
	case <-time.After(time.Second):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// homeless reports whether the namespace of an object is among the objects, and was not
// created yet.
func (c *Cluster) homeless(object core.TraceObject, objects []core.TraceObject) bool {
	return slices.ContainsFunc(objects, func(o core.TraceObject) bool {
		return o.Kind == "Namespace" && o.Name == object.Namespace && !c.populated[o.Key()]
	})
}

// condemn deletes an object that was being deleted when the run began: servers do not
// let anybody create such an object.
func (c *Cluster) condemn(ctx context.Context, object core.TraceObject) error {
	if metadata(object.Fields)["deletionTimestamp"] == nil {
		return nil
	}
	kind, err := c.kindOf(object.Kind)
	if err != nil {
		return err
	}
	request := &kube.Request{Verb: kube.Delete, Kind: kind, Namespace: object.Namespace, Name: object.Name}
	if grace, ok := number(metadata(object.Fields)["deletionGracePeriodSeconds"]); ok {
		seconds := int64(grace)
		request.GracePeriodSeconds = &seconds
	}
	response, err := c.send(ctx, request)
	if err != nil {
		return err
	}
	return response.Err()
}

// rename gives references to owners the server's uids, and reports whether all of them
// are known.
func (c *Cluster) rename(fields map[string]any) bool {
	references, _ := metadata(fields)["ownerReferences"].([]any)
	for _, r := range references {
		reference, ok := r.(map[string]any)
		if !ok {
			return false
		}
		uid, _ := reference["uid"].(string)
		renamed, known := c.uids.real[uid]
		if !known {
			return false
		}
		reference["uid"] = renamed
	}
	return true
}

// create creates an object, with its status if it has one, and returns its uid. One
// that every server has by itself is brought to the fields instead.
func (c *Cluster) create(ctx context.Context, key core.Key, fields map[string]any) (string, error) {
	kind, err := c.kindOf(key.Kind)
	if err != nil {
		return "", err
	}
	if apiVersion, ok := fields["apiVersion"].(string); ok {
		kind = schema.FromAPIVersionAndKind(apiVersion, kind.Kind)
	}
	for _, name := range []string{
		"uid", "resourceVersion", "generation", "managedFields", "selfLink",
		"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
	} {
		delete(metadata(fields), name)
	}
	status := fields["status"]
	created, err := c.put(ctx, kube.Create, kind, "", key, fields)
	if apierrors.IsAlreadyExists(err) && key.Kind == definitionKind {
		// It serves its kind as it was installed, and stays so.
		return c.uid(ctx, kind, key)
	}
	if apierrors.IsAlreadyExists(err) {
		created, err = c.put(ctx, kube.Update, kind, "", key, fields)
	}
	if err != nil || status == nil {
		return uidOf(created), err
	}
	metadata(fields)["resourceVersion"] = metadata(created)["resourceVersion"]
	_, err = c.put(ctx, kube.Update, kind, "status", key, fields)
	if apierrors.IsNotFound(err) {
		err = nil // there is no status of its own to write
	}
	return uidOf(created), err
}

// definitionKind is the kind of custom resource definitions, which are there before the objects.
const definitionKind core.Kind = "CustomResourceDefinition.apiextensions.k8s.io"

// uid reads the uid of an object.
func (c *Cluster) uid(ctx context.Context, kind schema.GroupVersionKind, key core.Key) (string, error) {
	response, err := c.send(ctx, &kube.Request{Verb: kube.Get, Kind: kind, Namespace: key.Namespace, Name: key.Name})
	if err != nil {
		return "", err
	}
	if err := response.Err(); err != nil {
		return "", err
	}
	found, err := tree(response.Object)
	return uidOf(found), err
}

func uidOf(fields map[string]any) string {
	uid, _ := metadata(fields)["uid"].(string)
	return uid
}

func (c *Cluster) put(ctx context.Context, verb kube.Verb, kind schema.GroupVersionKind, subresource string, key core.Key, fields map[string]any) (map[string]any, error) {
	body, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	response, err := c.send(ctx, &kube.Request{
		Verb: verb, Kind: kind, Subresource: subresource,
		Namespace: key.Namespace, Name: key.Name, Body: body,
	})
	if err != nil {
		return nil, err
	}
	if err := response.Err(); err != nil {
		return nil, err
	}
	return tree(response.Object)
}

// namespaces makes sure that the namespaces of the objects are there.
func (c *Cluster) namespaces(ctx context.Context, objects []core.TraceObject) error {
	wanted := map[string]bool{}
	for _, object := range objects {
		if object.Namespace != "" {
			wanted[object.Namespace] = true
		}
	}
	for _, object := range objects {
		if object.Kind == "Namespace" {
			delete(wanted, object.Name) // it comes with the objects
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		fields := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}
		_, err := c.put(ctx, kube.Create, schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, "", core.Key{Kind: "Namespace", Name: name}, fields)
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating namespace %s: %w", name, err)
		}
		c.holders[name] = true
	}
	return nil
}

func metadata(fields any) map[string]any {
	all, _ := fields.(map[string]any)
	metadata, _ := all["metadata"].(map[string]any)
	return metadata
}
