package main

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"

	xpv1 "github.com/crossplane/crossplane-runtime/v2/apis/common/v1"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource/unstructured/claim"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource/unstructured/composite"
)

// The kinds of this example, as the store names them.
const (
	claims     core.Kind = "Database." + group
	composites core.Kind = "XDatabase." + group
	configMaps core.Kind = "ConfigMap"
)

// faithful holds if claims that are ready end up with what the composition makes that
// they name.
func faithful() core.Property {
	return properties.EventuallyAlways("ready claims have what their composition makes", func(s core.State) bool {
		for _, object := range s.List(claims, namespace) {
			c := claim.Unstructured{Unstructured: read(object)}
			if c.GetCondition(xpv1.TypeReady).Status != "True" || c.GetCondition(xpv1.TypeSynced).Status != "True" {
				continue
			}
			if text(s, composed(s, c.GetName())) != c.GetCompositionReference().Name {
				return false
			}
		}
		return true
	})
}

// claimed holds if composites of which the claim is gone go too.
func claimed() core.Property {
	return properties.EventuallyAlways("composites go with their claims", func(s core.State) bool {
		for _, object := range s.List(composites, "") {
			c := composite.Unstructured{Unstructured: read(object), Schema: composite.SchemaLegacy}
			if of := c.GetClaimReference(); of != nil && s.Get(core.Key{Kind: claims, Namespace: of.Namespace, Name: of.Name}) == nil {
				return false
			}
		}
		return true
	})
}

// loyal holds if no step makes a ConfigMap change from one composite to another.
func loyal() core.Property {
	return core.Property{
		Name: "resources stay with their composite",
		Doc:  "No step gives a ConfigMap that one composite controls to another.",
		Judge: func(ctx context.Context, g core.Graph) ([]core.Violation, error) {
			for id := range core.StateID(g.States()) {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				for _, edge := range g.Edges(id) {
					if from, to := controllers(g.State(edge.From)), controllers(g.State(edge.To)); stolen(from, to) {
						stem, _ := g.Shortest(func(s core.StateID) bool { return s == edge.From })
						return []core.Violation{{
							Summary:     fmt.Sprintf("%s takes a ConfigMap from one composite to another", edge.Step.Item.Strategy),
							Controllers: []string{edge.Step.Item.Strategy},
							Stem:        append(stem, edge),
							State:       edge.To,
						}}, nil
					}
				}
			}
			return nil, nil
		},
	}
}

// controllers returns who controls each ConfigMap.
func controllers(s core.State) map[core.Key]string {
	found := map[core.Key]string{}
	for _, object := range s.List(configMaps, namespace) {
		config := read(object)
		if controller := metav1.GetControllerOf(&config); controller != nil {
			found[object.Key] = controller.Name
		}
	}
	return found
}

// stolen reports whether something that has a controller in one state has another one in
// the other.
func stolen(from, to map[core.Key]string) bool {
	for key, before := range from {
		if after, controlled := to[key]; controlled && after != before {
			return true
		}
	}
	return false
}

// composed returns the ConfigMap that a composite refers to.
func composed(s core.State, name string) core.Key {
	content := s.Get(core.Key{Kind: composites, Name: name})
	if content == nil {
		return core.Key{}
	}
	c := composite.Unstructured{Unstructured: read(core.Object{Content: content}), Schema: composite.SchemaLegacy}
	for _, reference := range c.GetResourceReferences() {
		return core.Key{Kind: configMaps, Namespace: reference.Namespace, Name: reference.Name}
	}
	return core.Key{}
}

// text returns the text of a ConfigMap.
func text(s core.State, key core.Key) string {
	content := s.Get(key)
	if content == nil {
		return ""
	}
	config := read(core.Object{Content: content})
	found, _, _ := unstructured.NestedString(config.Object, "data", "text")
	return found
}

// read returns an object, which must not be changed.
func read(object core.Object) unstructured.Unstructured {
	fields, ok := object.Content.Fields().(map[string]any)
	if !ok {
		panic(fmt.Sprintf("%s is not stored as Kubernetes stores objects", object.Key))
	}
	return unstructured.Unstructured{Object: fields}
}
