package lint

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What is said of the README here holds for the guide behind it, too.

// TestReadmeCode compares the code in the README with the files that it comes from,
// which are compiled and run with all tests.
func TestReadmeCode(t *testing.T) {
	blocks := readmeBlocks(t, `<!-- file (\S+) -->`)
	if len(blocks) == 0 {
		t.Fatal("the README shows no code")
	}
	for name, block := range blocks {
		source, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
			continue
		}
		if string(source) != block {
			t.Errorf("the README does not show %s as it is: copy it there", name)
		}
	}
}

// TestReadmeCommands runs the commands that the README shows, in their order, and
// looks for the output that it shows of them. A line with … stands for lines that
// are left out.
func TestReadmeCommands(t *testing.T) {
	folder := t.TempDir()
	binary := filepath.Join(folder, "orrery")
	build := exec.Command("go", "build", "-o", binary, "./cmd/orrery")
	build.Dir = filepath.Join("..", "..")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, said)
	}
	shown := readmeBlocks(t, `<!-- output of ([^\n]+) -->`)
	commands := regexp.MustCompile(`(?m)^go run \./cmd/orrery (.+)$`).FindAllStringSubmatch(readme(t), -1)
	if len(commands) < 2 || len(shown) == 0 {
		t.Fatal("the README shows no commands, or no output of any")
	}
	for _, command := range commands {
		run := exec.Command("sh", "-c", `"$0" `+command[1], binary)
		run.Dir = folder
		output, err := run.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if code := run.ProcessState.ExitCode(); code != 0 && code != 1 {
			t.Errorf("%s: exit code %d\n%s", command[0], code, output)
		}
		for part := range strings.SplitSeq(shown[command[0]], "…\n") {
			if !strings.Contains(string(output), part) {
				t.Errorf("%s does not print\n%s\nbut\n%s", command[0], part, output)
			}
		}
	}
}

// TestReadmeParts holds what the README shows of a file against the file. Commands of
// modules of their own are run there, and their output is kept in such files.
func TestReadmeParts(t *testing.T) {
	shown := readmeBlocks(t, `<!-- part of ([^\n]+) -->`)
	if len(shown) == 0 {
		t.Fatal("the README shows no part of any file")
	}
	for name, block := range shown {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(block, "…\n") {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s does not have\n%s", name, part)
			}
		}
	}
}

func readme(t *testing.T) string {
	var all strings.Builder
	for _, name := range []string{"README.md", "docs/guide.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// readmeBlocks returns the blocks of the README that follow a marker, by what the
// marker names.
func readmeBlocks(t *testing.T, marker string) map[string]string {
	pattern := regexp.MustCompile("(?s)" + marker + "\n```[a-z]*\n(.*?)```\n")
	blocks := map[string]string{}
	for _, match := range pattern.FindAllStringSubmatch(readme(t), -1) {
		blocks[match[1]] = match[2]
	}
	return blocks
}
