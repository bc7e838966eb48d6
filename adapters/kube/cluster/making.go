package cluster

import (
	"context"
	"encoding/json"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// make carries out a request that creates an object. What the server would choose at random, name and uid, is then what
// was recorded.
func (c *Cluster) make(ctx context.Context, request *kube.Request, key core.Key, changes []core.TraceChange) (*kube.Response, error) {
	request, err := namedAs(request, key.Name)
	if err != nil {
		return nil, err
	}
	response, err := c.send(ctx, request)
	if err != nil || response.Status != nil {
		return response, err
	}
	created, err := tree(response.Object)
	if err != nil {
		return nil, err
	}
	if uid := recordedUID(key, changes); uid != "" && uidOf(created) != "" {
		c.uids.pair(uid, uidOf(created))
	}
	return kube.Done([]byte(c.uids.toRecorded(string(response.Object)))), nil
}

// namedAs returns a create that asks for a name where it left the choice to the server: names decide the order of
// lists.
func namedAs(request *kube.Request, name string) (*kube.Request, error) {
	if request.Verb != kube.Create {
		return request, nil
	}
	fields, err := tree(request.Body)
	if err != nil {
		return nil, err
	}
	if text, _ := metadata(fields)["name"].(string); text != "" || metadata(fields)["generateName"] == nil {
		return request, nil
	}
	metadata(fields)["name"] = name
	named := *request
	named.Body, err = json.Marshal(fields)
	return &named, err
}

// recordedUID returns the uid that an object has after recorded changes, empty if they do not tell.
func recordedUID(key core.Key, changes []core.TraceChange) string {
	for _, change := range changes {
		if change.Key() != key {
			continue
		}
		for _, field := range change.Fields {
			switch field.Path {
			case "":
				return uidOf(map[string]any{"metadata": metadata(field.To)})
			case "metadata.uid":
				uid, _ := field.To.(string)
				return uid
			}
		}
	}
	return ""
}
