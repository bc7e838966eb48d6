package tutorial

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// soon is how many commands a newcomer gives at most to come to a first verdict.
const soon = 3

// newcomer finds the commands that the README has for somebody with a project of their own.
var newcomer = regexp.MustCompile("(?s)<!-- a newcomer's commands -->\n```sh\n(.*?)```")

// TestNewcomer gives the commands of the README in a project that has never heard of Orrery, with Orrery from a proxy,
// and tells how long it takes until there is a verdict.
func TestNewcomer(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a project")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	text := func(path ...string) string {
		text, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	found := newcomer.FindStringSubmatch(text("README.md"))
	if found == nil {
		t.Fatal("the README has no commands for newcomers")
	}
	commands := strings.Split(strings.TrimSpace(found[1]), "\n")
	if len(commands) > soon {
		t.Errorf("a newcomer gives %d commands, want at most %d", len(commands), soon)
	}
	reader := newReader(t, root, publish(t, root))
	for _, file := range block.FindAllStringSubmatch(text("docs", "tutorial.md"), -1) { // the controller of the tutorial, which has a race
		if what, path, _ := strings.Cut(file[1], " "); what == "file" {
			reader.write(path, file[3])
		}
	}
	began := time.Now()
	for _, command := range commands {
		since := time.Now()
		reader.run(command)
		t.Logf("%s: %s", time.Since(since).Round(time.Second/10), command)
	}
	t.Logf("the first verdict came after %s", time.Since(began).Round(time.Second/10))
	reader.compare("--- FAIL: TestControllersSettle\n…\n        Finding 1 of 1: with one reconcile of website on a stale cache, the system reaches an outcome that is unreachable with fresh caches")
	for _, required := range []string{orreryPath + " " + reader.orrery.version, "sigs.k8s.io/controller-runtime "} {
		if module, err := os.ReadFile(filepath.Join(reader.folder, "go.mod")); err != nil || !strings.Contains(string(module), required) {
			t.Errorf("go.mod does not require %s: %v", required, err)
		}
	}
}
