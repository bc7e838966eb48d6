package upstream

// The go.mod of Kubernetes names its staging modules in a version that there is not. This
// one is imported by tests of packages that are linked, and by nothing else: the import
// makes this module select a version of it for all that require it.
import _ "k8s.io/cri-api/pkg/apis/runtime/v1"
