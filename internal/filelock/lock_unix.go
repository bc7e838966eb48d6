//go:build unix

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Hold locks a file for its writer, and waits for that.
func Hold(file *os.File) {
	_ = syscall.Flock(int(file.Fd()), syscall.LOCK_EX) // which fails where files cannot be locked
}

// Take locks a file for its writer, or returns an error if somebody else holds it.
func Take(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// Left reports whether nobody holds a file, and holds it then.
func Left(file *os.File) bool {
	return Take(file) == nil
}

// Held reports whether somebody else holds a file.
func Held(file *os.File) bool {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if err == nil {
		_ = syscall.Flock(int(file.Fd()), syscall.LOCK_UN)
	}
	return errors.Is(err, syscall.EWOULDBLOCK)
}
