package main

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	fnv1 "github.com/crossplane/crossplane/v2/proto/fn/v1"
)

// compose is the composition function of this example. It runs in the process, and
// wants one ConfigMap: with the text of its input, and the name that the input gives it,
// if it gives one. Real functions are called over the network.
func compose(_ context.Context, name string, request *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	if name != functionName {
		return nil, fmt.Errorf("there is no function %q", name)
	}
	input := request.GetInput().GetFields()
	metadata := map[string]any{"namespace": namespace}
	if given := input["name"].GetStringValue(); given != "" {
		metadata["name"] = given
	}
	config, err := structpb.NewStruct(map[string]any{
		"apiVersion": "v1",
		"kind":       "ConfigMap",
		"metadata":   metadata,
		"data":       map[string]any{"text": input["text"].GetStringValue()},
	})
	if err != nil {
		return nil, err
	}
	desired := &fnv1.State{Composite: &fnv1.Resource{Resource: &structpb.Struct{}}}
	proto.Merge(desired, request.GetDesired())
	desired.Resources = map[string]*fnv1.Resource{"config": {Resource: config, Ready: fnv1.Ready_READY_TRUE}}
	return &fnv1.RunFunctionResponse{Desired: desired, Context: request.GetContext()}, nil
}
