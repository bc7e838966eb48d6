package scaffold

import (
	"strings"
	"testing"
)

// TestRaised checks what is said of the version of controller-runtime that a project requires.
func TestRaised(t *testing.T) {
	for version, want := range map[string]string{
		"": "", "v0.23.0": "", "v0.25.2": "",
		"v0.20.4": "go.mod requires controller-runtime v0.20.4, which Go raises to v0.23 or newer for Orrery. If the code does not build then: go mod edit -replace sigs.k8s.io/controller-runtime=sigs.k8s.io/controller-runtime@v0.22.4 -replace k8s.io/api=k8s.io/api@v0.34.3 ",
		"v0.22.5": "go mod edit -replace sigs.k8s.io/controller-runtime=sigs.k8s.io/controller-runtime@v0.22.5 -replace k8s.io/api=k8s.io/api@v0.34.3 ",
	} {
		if got := raised(version); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("of %q it is said %q, want %q", version, got, want)
		}
	}
}
