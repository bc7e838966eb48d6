package conformance

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/conformance/mutation"
	"github.com/orrery-dev/orrery/adapters/kube/fieldrules"
	"github.com/orrery-dev/orrery/core"
)

// CheckedFields gathers the fields of kinds, and of which of them the simulated server accepts
// what the real one refuses. It writes the list that package fieldrules reads.
type CheckedFields struct {
	// unchecked tells of every field, by its path without items, whether it is not checked.
	unchecked map[core.Kind]map[string]bool
	kinds     map[string]core.Kind
}

// Add adds the fields of a subject, nothing being wrong with them so far.
func (c *CheckedFields) Add(subject Subject, scheme *runtime.Scheme, constants mutation.Constants) error {
	parts, err := subject.mutations(scheme, constants)
	if err != nil {
		return err
	}
	if c.kinds == nil {
		c.unchecked, c.kinds = map[core.Kind]map[string]bool{}, map[string]core.Kind{}
	}
	kind := kube.KindOf(subject.Kind().GroupKind())
	c.kinds[subject.Name] = kind
	if c.unchecked[kind] == nil {
		c.unchecked[kind] = map[string]bool{}
	}
	for _, part := range parts {
		for _, m := range part.All {
			path := withoutItems(m.Path())
			if strings.HasPrefix(path, "metadata.") {
				continue
			}
			for ; path != ""; path = path[:max(strings.LastIndex(path, "."), 0)] {
				c.unchecked[kind][path] = c.unchecked[kind][path]
			}
		}
	}
	return nil
}

func withoutItems(path string) string { return strings.ReplaceAll(path, "[0]", "") }

// Observe marks the field of a difference in what is accepted.
func (c *CheckedFields) Observe(d FieldDifference) {
	if kind, known := c.kinds[d.Kind]; known && d.Class == Accepts {
		c.unchecked[kind][withoutItems(d.Path)] = true
	}
}

// Unnamed returns the fields of which something is accepted that the real server refuses, and
// that no report names, because the tables hold them to be checked. They are in order.
func (c *CheckedFields) Unnamed(table *fieldrules.Table) []string {
	var fields []string
	for kind, unchecked := range c.unchecked {
		coverage := table.Coverage(string(kind))
		for path := range unchecked {
			if unchecked[path] && len(coverage.Unchecked(objectWith(path))) == 0 {
				fields = append(fields, fmt.Sprintf("%s %s", kind, path))
			}
		}
	}
	slices.Sort(fields)
	return fields
}

// objectWith is an object that sets a single field.
func objectWith(path string) tree {
	name, rest, more := strings.Cut(path, ".")
	if more {
		return tree{name: objectWith(rest)}
	}
	return tree{name: true}
}

// podSpecs are where the specs of Pods are, in the kinds that have one. What is known of
// those in a Pod holds for them all: the others are not looked into as deeply.
func podSpecs() map[core.Kind]string {
	const template = "spec.template.spec"
	return map[core.Kind]string{
		"Pod": "spec", "PodTemplate": "template.spec", "ReplicationController": template,
		"Deployment.apps": template, "ReplicaSet.apps": template, "StatefulSet.apps": template, "DaemonSet.apps": template,
		"Job.batch": template, "CronJob.batch": "spec.jobTemplate.spec.template.spec",
	}
}

// WriteTo writes the list.
func (c *CheckedFields) WriteTo(out io.Writer) (int64, error) {
	pods := podSpecs()
	const pod core.Kind = "Pod"
	order := slices.Sorted(maps.Keys(c.unchecked))
	if i := slices.Index(order, pod); i >= 0 {
		order = slices.Insert(slices.Delete(order, i, i+1), 0, pod)
		for kind, at := range pods {
			for path, unchecked := range c.unchecked[kind] {
				if rest, below := strings.CutPrefix(path, at+"."); below && unchecked {
					c.unchecked[pod]["spec."+rest] = true
				}
			}
		}
	}
	var b strings.Builder
	b.WriteString("# The fields of Kubernetes' own kinds: those of which a real server refuses something that\n")
	b.WriteString("# the simulated one accepts have a ! before them. To write it, in adapters/kube/conformance:\n")
	b.WriteString("#\n#\tgo test -run TestFields -fields . -checked ../fieldrules/checked.txt -timeout 2h\n")
	for _, kind := range order {
		at, hasPod := pods[kind]
		groups := map[string][]string{}
		for path, unchecked := range c.unchecked[kind] {
			if hasPod && kind != pod && strings.HasPrefix(path, at+".") {
				continue
			}
			in, name := "", path
			if i := strings.LastIndex(path, "."); i >= 0 {
				in, name = path[:i]+": ", path[i+1:]
			}
			if unchecked {
				name = "!" + name
			}
			groups[in] = append(groups[in], name)
		}
		fmt.Fprintf(&b, "\n%s\n", kind)
		for _, in := range slices.Sorted(maps.Keys(groups)) {
			slices.SortFunc(groups[in], func(a, b string) int {
				return strings.Compare(strings.TrimPrefix(a, "!"), strings.TrimPrefix(b, "!"))
			})
			fmt.Fprintf(&b, "  %s%s\n", in, strings.Join(groups[in], " "))
		}
		if hasPod && kind != pod {
			fmt.Fprintf(&b, "  %s = %s %s\n", at, pod, pods[pod])
		}
	}
	n, err := io.WriteString(out, b.String())
	return int64(n), err
}
