package transport

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// resourcePath is what the path of a request to an API server names.
type resourcePath struct {
	resource    schema.GroupVersionResource
	namespace   string
	name        string
	subresource string
}

// parsePath reads paths of the forms
//
//	/api/VERSION/[namespaces/NAMESPACE/]RESOURCE[/NAME[/SUBRESOURCE]]
//	/apis/GROUP/VERSION/[namespaces/NAMESPACE/]RESOURCE[/NAME[/SUBRESOURCE]]
//
// and returns false for all others, such as those of discovery.
func parsePath(path string) (resourcePath, bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	var p resourcePath
	switch {
	case parts[0] == "api" && len(parts) > 2:
		p.resource.Version, parts = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		p.resource.Group, p.resource.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return resourcePath{}, false
	}
	if parts[0] == "namespaces" && len(parts) > 2 && !namespaceSubresource(parts[2]) {
		p.namespace, parts = parts[1], parts[2:]
	}
	if len(parts) > 3 {
		return resourcePath{}, false
	}
	p.resource.Resource = parts[0]
	if len(parts) > 1 {
		p.name = parts[1]
	}
	if len(parts) > 2 {
		p.subresource = parts[2]
	}
	return p, true
}

// namespaceSubresource reports whether /namespaces/NAME/word is about the namespace
// itself and not about resources in it.
func namespaceSubresource(word string) bool { return word == "status" || word == "finalize" }
