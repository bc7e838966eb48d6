package main

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestPublished vets and tests the package with the published controller in it.
func TestPublished(t *testing.T) {
	scratch := t.TempDir()
	arguments := []string{"./published"}
	if *update {
		arguments = append(arguments, "-args", "-update")
	}
	if err := goTool(scratch, "vet", "./published"); err != nil {
		t.Fatal(err)
	}
	if err := goTool(scratch, "test", arguments...); err != nil {
		t.Fatal(err)
	}
}

// TestRun runs the command: its exit code is that of the check.
func TestRun(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	before := os.Stdout
	os.Stdout = null
	defer func() { os.Stdout = before }()
	for argument, want := range map[string]int{"rename=0": 0, "rename=1": 1} {
		if code, err := run([]string{"check", "samplecontroller", "--param", argument}); code != want || err != nil {
			t.Errorf("with %s the exit code is %d, and the error %v; want %d", argument, code, err, want)
		}
	}
}
