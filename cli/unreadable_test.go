package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/cli"
)

// readers are the commands that read a file, by what it has to be.
var readers = map[string][]string{
	"record": {
		"inspect FILE", "serve FILE --addr 127.0.0.1:0", "replay FILE", "confirm FILE", "export FILE --format dot", "export FILE --format json",
		"export FILE --format html", "export FILE --format mermaid", "export FILE --format junit", "export FILE --format itf", "export FILE --format go",
		"export FILE --format svg", "export FILE --format sarif",
	},
	"recording": {
		"trace show FILE", "trace why FILE ConfigMap/default/web", "trace stale FILE", "trace fights FILE", "trace idle FILE", "trace slow FILE",
		"trace validate FILE", "trace show FILE --html OUT.html", "trace why FILE ConfigMap/default/web --dot OUT.dot",
	},
	"checkpoint": {"check fake/holds --resume FILE"},
	"audit log":  {"trace import audit FILE --out OUT.ort"},
	"simkube":    {"trace import simkube FILE --out OUT.ort"},
}

// TestUnreadableFiles gives each command that reads a file what it cannot read: it ends with a line that names the
// file, and says what is wrong with it.
func TestUnreadableFiles(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string, contents []byte) {
		if err := os.WriteFile(path(name), contents, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code, _, said := run(t, "check", "fake/violated", "--out", path("record")); code != cli.ExitViolated {
		t.Fatal(said)
	}
	record, err := os.ReadFile(path("record"))
	if err != nil {
		t.Fatal(err)
	}
	recording, err := recordingOf(false)
	if err != nil {
		t.Fatal(err)
	}
	write("recording", recording)
	write("empty", nil)
	write("text", []byte("It was a dark and stormy night.\n"))
	write("noise", bytes.Repeat([]byte{0, 1, 2, 0xff, 0xc1}, 10_000))
	write("nested", []byte(strings.Repeat("[", 1_000_000)))
	write("newer-record", bytes.Replace(record, []byte("orrery-record 2\n"), []byte("orrery-record 9\n"), 1))
	write("newer-recording", append([]byte("orrery-recording 9"), recording[bytes.IndexByte(recording, '\n'):]...))
	write("newer-checkpoint", []byte("orrery checkpoint 9\n"))
	if err := os.Mkdir(path("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for kind, commands := range readers {
		for _, command := range commands {
			for _, name := range []string{"record", "recording", "empty", "text", "noise", "nested", "newer-record", "newer-recording", "newer-checkpoint", "folder", "missing"} {
				if name == kind {
					continue
				}
				t.Run(command+"/"+name, func(t *testing.T) {
					args := strings.Fields(command)
					for i := range args {
						args[i] = strings.NewReplacer("FILE", path(name), "OUT", path("out")).Replace(args[i])
					}
					code, out, said := run(t, args...)
					if code != cli.ExitUsage || out != "" || !strings.HasPrefix(said, "orrery: ") || strings.Count(said, "\n") != 1 || len(said) > 1000 || !strings.Contains(said, name) {
						t.Errorf("exit code %d, %q, and it says %q", code, out, said)
					}
					if want, newer := strings.CutPrefix(name, "newer-"); newer && want == kind && !strings.Contains(said, "version") {
						t.Errorf("it does not name the version: %q", said)
					}
					if left, err := filepath.Glob(path("out.*")); err != nil || len(left) > 0 {
						t.Errorf("it has written %q, %v", left, err)
					}
				})
			}
		}
	}
}

// TestDamagedFiles changes bytes of a record and of a recording, and cuts them off: commands end, and say so where they
// show nothing.
func TestDamagedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "damaged")
	if code, _, said := run(t, "check", "fake/violated", "--out", path); code != cli.ExitViolated {
		t.Fatal(said)
	}
	record, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	recording, err := recordingOf(false)
	if err != nil {
		t.Fatal(err)
	}
	try := func(file []byte, what string, at int, args ...string) {
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		code, out, said := run(t, args...)
		shown := code == cli.ExitHolds && out != ""
		refused := code == cli.ExitUsage && out == "" && strings.HasPrefix(said, "orrery: ")
		if !shown && !refused || time.Since(began) > 10*time.Second {
			t.Errorf("%s at byte %d of %d, %q: exit code %d after %s, %q, and it says %q", what, at, len(file), args, code, time.Since(began), out, said)
		}
		if shown && what == "changed" && args[0] == "export" {
			t.Errorf("byte %d was changed, and nobody noticed", at)
		}
	}
	for whole, args := range map[*[]byte][]string{&record: {"export", path, "--format", "json"}, &recording: {"trace", "show", path}} {
		step := 1
		if testing.Short() {
			step = 7
		}
		for at := 0; at < len(*whole); at += step {
			changed := bytes.Clone(*whole)
			changed[at] ^= 0x41
			try(changed, "changed", at, args...)
			try((*whole)[:at], "cut off", at, args...)
		}
	}
}
