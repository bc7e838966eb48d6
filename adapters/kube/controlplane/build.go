package controlplane

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-hclog"

	"golang.org/x/mod/modfile"
)

// Version is the release of Kubernetes that is built. The release of etcd is the one
// that this release of Kubernetes asks for.
const Version = "v1.36.1"

const kubernetes = "k8s.io/kubernetes"

// The main packages of the generated module.
const (
	apiServerMain = `package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() { os.Exit(cli.Run(app.NewAPIServerCommand())) }
`
	etcdMain = `package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
`
)

// build compiles the programs into the folder. A module is generated for it in a
// temporary folder. The programs appear in the folder only once they are whole.
func build(ctx context.Context, folder string, logger hclog.Logger) error {
	logger.Info("building kube-apiserver and its etcd: this takes about a quarter of an hour, once", "version", Version, "folder", folder)
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return err
	}
	workplace, err := os.MkdirTemp(filepath.Dir(folder), "build-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(workplace) }() // what stays is in a folder of its own
	if err := generateModule(ctx, workplace, logger); err != nil {
		return fmt.Errorf("cannot prepare the build of kube-apiserver %s: %w", Version, err)
	}
	programs := filepath.Join(workplace, "bin") + string(filepath.Separator)
	// The flags are for the linker alone: whatever was compiled for another program can
	// be used again.
	flags := "-s -w -X k8s.io/component-base/version.gitVersion=" + Version
	if _, err := goCommand(ctx, workplace, logger, "build", "-ldflags", flags, "-o", programs, "./"+etcdName, "./"+apiServerName); err != nil {
		return fmt.Errorf("cannot build kube-apiserver %s: %w", Version, err)
	}
	if err := os.Rename(programs, folder); err != nil {
		if _, found := inFolder(folder); found == nil {
			return nil // Another process was faster.
		}
		return err
	}
	return nil
}

// generateModule writes a module that builds the programs. Kubernetes cannot be
// required like another module, since its go.mod takes its staging modules from its
// own tree: the generated go.mod is that file with the staging modules replaced by
// their published versions.
func generateModule(ctx context.Context, folder string, logger hclog.Logger) error {
	answer, err := goCommand(ctx, folder, logger, "mod", "download", "-json", kubernetes+"@"+Version)
	if err != nil {
		return err
	}
	var source struct{ Dir string }
	if err := json.Unmarshal(answer, &source); err != nil {
		return err
	}
	theirs, err := os.ReadFile(filepath.Join(source.Dir, "go.mod"))
	if err != nil {
		return err
	}
	ours, err := stageless(theirs, Version)
	if err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(source.Dir, "go.sum"))
	if err != nil {
		return err
	}
	for _, file := range []struct {
		path    string
		content []byte
	}{
		{"go.mod", ours},
		{"go.sum", sums},
		{filepath.Join(apiServerName, "main.go"), []byte(apiServerMain)},
		{filepath.Join(etcdName, "main.go"), []byte(etcdMain)},
	} {
		path := filepath.Join(folder, file.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, file.content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// stageless turns the go.mod of Kubernetes in a version into one for a module that
// requires Kubernetes: modules that are replaced by a folder are replaced by their
// published version instead (v0.36.1 for v1.36.1).
func stageless(theirs []byte, version string) ([]byte, error) {
	file, err := modfile.Parse("go.mod", theirs, nil)
	if err != nil {
		return nil, err
	}
	if err := file.AddModuleStmt("servers"); err != nil {
		return nil, err
	}
	if err := file.AddRequire(kubernetes, version); err != nil {
		return nil, err
	}
	published := "v0." + strings.TrimPrefix(version, "v1.")
	for _, replaced := range file.Replace {
		if !modfile.IsDirectoryPath(replaced.New.Path) {
			continue
		}
		if err := file.AddReplace(replaced.Old.Path, replaced.Old.Version, replaced.Old.Path, published); err != nil {
			return nil, err
		}
	}
	return file.Format()
}

// goCommand runs the go command in a folder and returns its output.
func goCommand(ctx context.Context, folder string, logger hclog.Logger, arguments ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir = folder
	command.Env = append(os.Environ(),
		// The generated go.sum is not complete, and no workspace, vendor folder or repository
		// around may matter.
		"GOFLAGS=-mod=mod -buildvcs=false", "GOWORK=off",
		// Compilers are done before it pays to collect much. Big packages take a fifth less time.
		"GOGC=400",
	)
	var output bytes.Buffer
	command.Stdout = &output
	var complaints bytes.Buffer
	command.Stderr = io.MultiWriter(&complaints, logger.StandardWriter(&hclog.StandardLoggerOptions{ForceLevel: hclog.Info}))
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx) // that it was killed says less
		}
		return nil, fmt.Errorf("go %s: %w: %s", arguments[0], err, lastLines(complaints.String()))
	}
	return output.Bytes(), nil
}

// lastLines returns the end of what a program says, where it says why it failed.
func lastLines(text string) string {
	const most = 10
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
