package controlplane

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// process is a program at work in a process group of its own.
type process struct {
	name    string
	command *exec.Cmd
	logPath string
	// ended is closed when the program has ended.
	ended chan struct{}
}

// startProcess runs a program with its output in a file.
func startProcess(program, logPath string, arguments ...string) (*process, error) {
	log, err := os.Create(logPath)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &process{name: filepath.Base(program), command: exec.Command(program, arguments...), logPath: logPath, ended: make(chan struct{})}
	p.command.Dir = filepath.Dir(logPath)
	p.command.Stdout, p.command.Stderr = log, log
	p.command.SysProcAttr = attributes()
	started := make(chan error)
	go p.attend(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", program, err)
	}
	return p, nil
}

// wait starts the program, tells about that, and waits for its end.
func (p *process) wait(started chan<- error) {
	err := p.command.Start()
	started <- err
	if err == nil {
		_ = p.command.Wait() // Its exit code does not matter: that it ended does.
		close(p.ended)
	}
}

// stop asks the program to end, ends it if it takes too long, and returns when it is
// gone.
func (p *process) stop() {
	const patience = 5 * time.Second
	if err := p.command.Process.Signal(syscall.SIGTERM); err == nil {
		select {
		case <-p.ended:
		case <-time.After(patience):
		}
	}
	p.kill()
	<-p.ended
}

// kill ends the program at once, if it has not ended yet.
func (p *process) kill() {
	_ = p.command.Process.Kill() // It fails only if there is nothing left to end.
}

// failed says why the program is of no use, with the end of its log.
func (p *process) failed(reason error) error {
	const tail = 2000
	text, err := os.ReadFile(p.logPath)
	if err != nil {
		return fmt.Errorf("%s: %w (and it has no log: %w)", p.name, reason, err)
	}
	text = text[max(0, len(text)-tail):]
	return fmt.Errorf("%s: %w; its last words:\n%s", p.name, reason, strings.TrimSpace(string(text)))
}
