package controlplane

import (
	"os"
	"path/filepath"

	"github.com/orrery-dev/orrery/internal/filelock"
)

// hold locks a folder. The lock ends with this process, however that ends.
func hold(folder string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(folder, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := filelock.Take(lock); err != nil {
		lock.Close()
		return nil, err
	}
	return lock, nil
}

// sweep removes the folders of control planes whose processes were killed. What cannot be removed does no harm.
func sweep() {
	folders, err := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*"))
	if err != nil {
		return
	}
	for _, folder := range folders {
		// One without a lock is just being made, or is not a folder of a control plane.
		lock, err := os.OpenFile(filepath.Join(folder, lockName), os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if filelock.Left(lock) {
			_ = os.RemoveAll(folder)
		}
		lock.Close()
	}
}
