package controlplane

import (
	"runtime"
	"syscall"
)

// attend starts the program and waits for its end. Linux ends the program when the
// thread that started it ends: so that thread is kept, and ends with this process.
func (p *process) attend(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p.wait(started)
}

// attributes makes the program end with this process, however that ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
