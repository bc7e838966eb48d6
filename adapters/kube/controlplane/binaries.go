package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/go-hclog"
)

// assetsVariable is the environment variable by which kubebuilder and envtest find
// their servers.
const assetsVariable = "KUBEBUILDER_ASSETS"

// The names of the programs, in every folder that holds them.
const (
	etcdName      = "etcd"
	apiServerName = "kube-apiserver"
)

// Binaries are the programs of a control plane, as paths.
type Binaries struct {
	Etcd      string
	APIServer string
}

// Find returns the programs in the folder that KUBEBUILDER_ASSETS names. Without that
// variable it returns those that it built earlier from [Version], or builds them:
// that takes minutes and some gigabytes of module and build cache, once. Progress
// goes to the logger, at the level Info.
func Find(ctx context.Context, logger hclog.Logger) (Binaries, error) {
	found, err := Present()
	if !errors.Is(err, fs.ErrNotExist) || os.Getenv(assetsVariable) != "" {
		return found, err
	}
	folder, err := built()
	if err != nil {
		return Binaries{}, err
	}
	if err := build(ctx, folder, logger); err != nil {
		return Binaries{}, err
	}
	return inFolder(folder)
}

// Present returns the programs that [Find] returns, and never builds them: if they are
// not there, the error is an [fs.ErrNotExist].
func Present() (Binaries, error) {
	if folder := os.Getenv(assetsVariable); folder != "" {
		found, err := inFolder(folder)
		if err != nil {
			return Binaries{}, fmt.Errorf("%s is set to %s, which does not hold %s and %s: correct it, or unset it to have them built: %w",
				assetsVariable, folder, etcdName, apiServerName, err)
		}
		return found, nil
	}
	folder, err := built()
	if err != nil {
		return Binaries{}, err
	}
	return inFolder(folder)
}

// built returns the folder for the programs that are built here.
func built() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("there is no folder to keep the servers in: set HOME, or set %s to a folder with %s and %s: %w",
			assetsVariable, etcdName, apiServerName, err)
	}
	return filepath.Join(cache, "orrery", "controlplane-"+Version), nil
}

// inFolder returns the programs of a folder, and an error if one is missing.
func inFolder(folder string) (Binaries, error) {
	found := Binaries{
		Etcd:      filepath.Join(folder, etcdName),
		APIServer: filepath.Join(folder, apiServerName),
	}
	for _, program := range []string{found.Etcd, found.APIServer} {
		if _, err := os.Stat(program); err != nil {
			return Binaries{}, err
		}
	}
	return found, nil
}
