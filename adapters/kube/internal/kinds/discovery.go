package kinds

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Groups are the groups of kinds with their versions, as a client discovers them. The core group, which is discovered
// elsewhere, is not among them.
func (g *Registry) Groups() []metav1.APIGroup {
	var groups []metav1.APIGroup
	for _, gv := range g.groupVersions() {
		if gv.Group == "" || len(g.Resources(gv)) == 0 {
			continue
		}
		version := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
		i := slices.IndexFunc(groups, func(known metav1.APIGroup) bool { return known.Name == gv.Group })
		if i < 0 {
			i = len(groups)
			groups = append(groups, metav1.APIGroup{Name: gv.Group, PreferredVersion: version})
		}
		groups[i].Versions = append(groups[i].Versions, version)
	}
	return groups
}

// Resources are what is served of a version of a group, as a client discovers it.
func (g *Registry) Resources(of schema.GroupVersion) []metav1.APIResource {
	var resources []metav1.APIResource
	for _, r := range g.sorted() {
		if r.Group != of.Group || !slices.Contains(r.Served, of.Version) {
			continue
		}
		resources = append(resources, metav1.APIResource{
			Name: r.Plural, SingularName: r.singular, Namespaced: r.Namespaced, Kind: r.Kind,
			Verbs: metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
		})
		verbs := metav1.Verbs{"get", "patch", "update"}
		r := r.In(of.Version)
		if r.Status {
			resources = append(resources, metav1.APIResource{Name: r.Plural + "/status", Namespaced: r.Namespaced, Kind: r.Kind, Verbs: verbs})
		}
		if r.Scale != nil {
			resources = append(resources, metav1.APIResource{
				Name: r.Plural + "/scale", Namespaced: r.Namespaced, Group: "autoscaling", Version: "v1", Kind: "Scale", Verbs: verbs,
			})
		}
	}
	return resources
}
