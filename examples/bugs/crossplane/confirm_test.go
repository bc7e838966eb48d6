package main

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/kube/controlplane"
	"github.com/orrery-dev/orrery/cli"
)

// TestConfirm runs each finding against a real API server, if there is one that need not be built first. Names of composed
// resources are made of uids, and one of the findings takes a stale view.
func TestConfirm(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	if _, err := controlplane.Present(); errors.Is(err, fs.ErrNotExist) {
		t.Skip("there is no kube-apiserver yet: set KUBEBUILDER_ASSETS, or let orrery confirm build one")
	}
	for _, test := range []struct {
		check    string
		findings []string
	}{
		{"deleted-claim --stale " + lateComposites, []string{"1", "2"}},
		{"deleted-composition", []string{"1"}},
		{"switched-composition", []string{"1", "2"}},
	} {
		file := filepath.Join(t.TempDir(), "run.orr")
		orrery := func(words string, code int) string {
			var out, said bytes.Buffer
			streams := cli.Streams{Out: &out, Err: &said}
			if got := cli.Run(t.Context(), strings.Fields(words), streams, entries()); got != code {
				t.Fatalf("orrery %s: exit code %d, want %d: %s%s", words, got, code, &said, &out)
			}
			return out.String()
		}
		orrery("check "+test.check+" --reduction none --out "+file, cli.ExitViolated)
		for _, finding := range test.findings {
			said := orrery("confirm "+file+" --finding "+finding, cli.ExitViolated)
			if !strings.Contains(said, "Finding "+finding+" is confirmed") {
				t.Errorf("%s, finding %s: %s", test.check, finding, said)
			}
		}
	}
}
