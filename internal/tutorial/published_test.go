package tutorial

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"

	"github.com/orrery-dev/orrery/internal/filelock"
)

// orreryPath is the path of the root module.
const orreryPath = "github.com/orrery-dev/orrery"

// published is the root module of this checkout as others get it: as a version on a proxy, which the go command
// downloads, checks and unpacks as that of any module. So what a module leaves out is missing, its go.mod counts as
// that of a dependency, and it stands in a folder that nobody writes to.
type published struct {
	version string
	// proxies is for GOPROXY: one with the module, and then what this machine has downloaded for the module itself.
	// Nothing comes from the network.
	proxies string
}

// publish makes the version, and takes it out of the module cache when the test ends. Compiled packages stay in the
// build cache, and are found there the next time: the folder they were compiled in is part of what names them, so the
// version depends on what the module holds.
func publish(t *testing.T, root string) published {
	t.Helper()
	output, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache := strings.TrimSpace(string(output))
	sum := pack(t, filepath.Join(t.TempDir(), "orrery.zip"), root, "v0.0.1-test")
	version := fmt.Sprintf("v0.0.1-test.x%x", sum[:6])
	proxy := t.TempDir()
	versions := filepath.Join(proxy, filepath.FromSlash(orreryPath), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		t.Fatal(err)
	}
	pack(t, filepath.Join(versions, version+".zip"), root, version)
	requirements, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"list": version + "\n", version + ".mod": string(requirements), version + ".info": fmt.Sprintf(`{"Version": %q}`, version)} {
		if err := os.WriteFile(filepath.Join(versions, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	downloaded := filepath.Join(cache, "cache", "download")
	lock(t, version)
	t.Cleanup(func() {
		left, err := filepath.Glob(filepath.Join(downloaded, filepath.FromSlash(orreryPath), "@v", version+".*"))
		for _, path := range append(left, filepath.Join(cache, filepath.FromSlash(orreryPath)+"@"+version)) {
			err = errors.Join(err, os.RemoveAll(path))
		}
		if err != nil {
			t.Error(err)
		}
	})
	return published{version: version, proxies: "file://" + filepath.ToSlash(proxy) + ",file://" + filepath.ToSlash(downloaded)}
}

// pack writes the zip of the module in a version, and returns a hash of what is in it.
func pack(t *testing.T, path, root, version string) [sha256.Size]byte {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(zip.CreateFromDir(file, module.Version{Path: orreryPath, Version: version}, root), file.Close())
	if err != nil {
		t.Fatal(err)
	}
	sum, err := dirhash.HashZip(path, dirhash.Hash1)
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256([]byte(sum))
}

// lock keeps other processes that test the same version from taking it out of the module cache while it is used here.
// Cleanups run last first: the lock is released when the version is gone.
func lock(t *testing.T, version string) {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(os.TempDir(), "orrery-"+version+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	filelock.Hold(file)
	t.Cleanup(func() { _ = file.Close() })
}
