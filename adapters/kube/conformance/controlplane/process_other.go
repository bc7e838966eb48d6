//go:build !linux

package controlplane

import "syscall"

// attend starts the program and waits for its end.
func (p *process) attend(started chan<- error) { p.wait(started) }

// attributes are the defaults: only Linux can tie a program's life to that of this
// process.
func attributes() *syscall.SysProcAttr { return nil }
