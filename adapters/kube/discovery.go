package kube

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// Release is the release of Kubernetes that the server says it is of: the one that it is compared with.
const Release = "v1.36.1"

// Discover returns what the server answers to a request of discovery: /version, /api, /apis and what is below these for
// each group and version. It is the same at any time. The answer is nil where no such group or version is served, by
// which code finds out what a cluster has; asks is false for other requests.
func (s *Server) Discover(path string) (answer any, asks bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case path == "/version":
		major, rest, _ := strings.Cut(strings.TrimPrefix(Release, "v"), ".")
		minor, _, _ := strings.Cut(rest, ".")
		return &version.Info{Major: major, Minor: minor, GitVersion: Release, Platform: "linux/amd64"}, true
	case len(parts) == 1 && parts[0] == "api":
		return &metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}, true
	case len(parts) == 1 && parts[0] == "apis":
		return &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: s.registry.Groups()}, true
	case len(parts) == 2 && parts[0] == "api":
		return s.resources(schema.GroupVersion{Version: parts[1]}), true
	case len(parts) == 2 && parts[0] == "apis":
		for _, group := range s.registry.Groups() {
			if group.Name == parts[1] {
				group.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
				return &group, true
			}
		}
		return nil, true
	case len(parts) == 3 && parts[0] == "apis":
		return s.resources(schema.GroupVersion{Group: parts[1], Version: parts[2]}), true
	}
	return nil, false
}

// resources returns what is served of a version of a group, nil if nothing is.
func (s *Server) resources(of schema.GroupVersion) any {
	resources := s.registry.Resources(of)
	if len(resources) == 0 {
		return nil
	}
	return &metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: of.String(), APIResources: resources,
	}
}
