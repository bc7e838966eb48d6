// Samplecontroller checks the sample-controller that Kubernetes publishes, unmodified. It has the verbs of orrery: see go run . --help.
//
// A package main cannot be imported. So this builds the package in published together with the controller.go of the module, by an overlay, and runs it.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "samplecontroller:", err)
	}
	os.Exit(code)
}

// run builds the command and runs it with arguments. It returns its exit code.
func run(arguments []string) (int, error) {
	const internal = 3
	scratch, err := os.MkdirTemp("", "samplecontroller")
	if err != nil {
		return internal, err
	}
	defer os.RemoveAll(scratch)
	binary := filepath.Join(scratch, "samplecontroller")
	if err := goTool(scratch, "build", "-o", binary, "./published"); err != nil {
		return internal, err
	}
	command := exec.Command(binary, arguments...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = command.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// goTool runs the Go command of a name as if the controller of the sample-controller were in the folder published. It keeps a file in the scratch folder.
func goTool(scratch, name string, arguments ...string) error {
	found, err := exec.Command("go", "mod", "download", "-json", "k8s.io/sample-controller").Output()
	if err != nil {
		return fmt.Errorf("where is k8s.io/sample-controller? run this in the folder of the example: %w", err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(found, &module); err != nil {
		return err
	}
	here, err := filepath.Abs("published")
	if err != nil {
		return err
	}
	overlay := filepath.Join(scratch, "overlay.json")
	text, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(here, "controller.go"): filepath.Join(module.Dir, "controller.go")}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return err
	}
	command := exec.Command("go", append([]string{name, "-tags", "published", "-overlay", overlay}, arguments...)...)
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	return command.Run()
}
