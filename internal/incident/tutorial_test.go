package incident

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/cli"
	"github.com/orrery-dev/orrery/core"
)

// runAs is set where the test binary is to be the command of the tutorial.
const runAs = "ORRERY_TEST_RUN_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(runAs) != "" {
		cli.Main(entries()...)
	}
	os.Exit(m.Run())
}

// entries are what the operator of the tutorial has compiled in.
func entries() []catalog.Entry {
	return []catalog.Entry{{
		Name: "orders", Doc: "Orders get numbers.",
		Params: []catalog.Param{{Name: "locked", Doc: "1 is with the fix", Min: 0, Max: 1}},
		Build: func(v catalog.Values) (*core.System, error) {
			return controllerruntime.New(scheme.Scheme, controllerruntime.ObjectValues(shop(), order("pears"), order("plums")),
				controllerruntime.Setup(func(mgr ctrl.Manager) error {
					return (&orderReconciler{Client: mgr.GetClient(), Locked: v["locked"] == 1}).SetupWithManager(mgr)
				}))
		},
	}}
}

// tutorial returns the text between the markers.
func tutorial(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "live-traces.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestTutorialCommands runs the commands of the tutorial, in their order, and holds what they print against what it
// shows. A line with … stands for lines that are left out.
func TestTutorialCommands(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"incident.ort", "audit.log"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)<!-- run -->\n```console\n(.*?)```\n").FindAllStringSubmatch(tutorial(t), -1)
	if len(blocks) < 5 {
		t.Fatalf("the tutorial shows %d commands", len(blocks))
	}
	for _, block := range blocks {
		line, shown, _ := strings.Cut(block[1], "\n")
		command, found := strings.CutPrefix(line, "$ orrery ")
		if !found {
			t.Errorf("%q is no command of orrery", line)
			continue
		}
		run := exec.Command("sh", "-c", `"$0" `+command, binary)
		run.Dir, run.Env = folder, append(os.Environ(), runAs+"=1")
		output, err := run.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if code := run.ProcessState.ExitCode(); code == 2 {
			t.Errorf("%s: exit code %d", line, code)
		}
		rest := string(output)
		for part := range strings.SplitSeq(shown, "…\n") {
			_, behind, has := strings.Cut(rest, part)
			if !has {
				t.Errorf("%s does not print\n%s\nbut\n%s", line, part, output)
				break
			}
			rest = behind
		}
	}
}

// TestTutorialQuestions wants each question of orrery trace to be in the page.
func TestTutorialQuestions(t *testing.T) {
	page := tutorial(t)
	for _, question := range []string{"show", "why", "stale", "fights", "idle", "slow", "replay", "validate", "import audit", "import simkube"} {
		if !strings.Contains(page, "orrery trace "+question) {
			t.Errorf("the page says nothing of orrery trace %s", question)
		}
	}
}

// TestTutorialCode holds the code of the tutorial against the file that it comes from.
func TestTutorialCode(t *testing.T) {
	shown := regexp.MustCompile("(?s)<!-- part of (\\S+) -->\n```go\n(.*?)```\n").FindAllStringSubmatch(tutorial(t), -1)
	if len(shown) == 0 {
		t.Fatal("the tutorial shows no code")
	}
	for _, block := range shown {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(block[1])))
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(block[2], "…\n")
		if slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(string(text), part) }) {
			t.Errorf("%s does not have\n%s", block[1], block[2])
		}
	}
}
