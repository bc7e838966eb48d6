package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/cli"
	"github.com/orrery-dev/orrery/core"
)

// talkative is a system that logs what it does, and then goes too far.
func talkative() []catalog.Entry {
	return []catalog.Entry{{
		Name: "talkative",
		Doc:  "A process that counts, and says so.",
		Build: func(catalog.Values) (*core.System, error) {
			count := plain.NewVar[int]("count")
			return plain.Model{
				Name:    "talkative",
				Initial: []core.Initial{plain.Start(count.Is(0))},
				Processes: []plain.Process{{Name: "p", Actions: []plain.Action{{Name: "add", Do: func(w *plain.World) {
					n := count.Get(w)
					w.Log("thinks of a number", "number", n, "note", "<script>alert(1)</script>\x1b[31m")
					w.Require(n < 2)
					count.Set(w, n+1)
				}}}}},
				Properties: []core.Property{{Name: "small", Doc: "The count is small.", Invariant: func(state core.State) error {
					if count.Get(state) > 1 {
						return errors.New("the count is large")
					}
					return nil
				}}},
			}.System()
		},
	}}
}

// TestLogsInRecords follows the lines that a check was told to keep through its record and into all that reads it,
// where nothing in them is markup or a command for a terminal. Without --logs none is there.
func TestLogsInRecords(t *testing.T) {
	const line = "thinks of a number"
	file := filepath.Join(t.TempDir(), "run.orr")
	run := func(args ...string) (code int, out string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code = cli.Run(t.Context(), args, cli.Streams{Out: &stdout, Err: &stderr}, talkative()); stderr.Len() > 0 {
			t.Errorf("%q: %s", args, &stderr)
		}
		return code, stdout.String()
	}
	for _, logs := range []bool{true, false} {
		check := []string{"check", "talkative", "--out", file}
		if logs {
			check = append(check, "--logs")
		}
		shown := map[string]string{}
		for _, reader := range [][]string{check, {"export", file, "--format", "json"}, {"export", file, "--format", "html"}} {
			_, shown[strings.Join(reader, " ")] = run(reader...)
		}
		shown["serve"] = served(t, file)
		for reader, text := range shown {
			if strings.Contains(text, line) != logs || !strings.Contains(text, "count") {
				t.Errorf("%s, with lines: %t\n%s", reader, logs, text)
			}
			if page := strings.HasPrefix(strings.ToLower(text), "<!doctype"); strings.Contains(text, "\x1b[31m") || page && strings.Contains(text, "<script>alert") {
				t.Errorf("%s: what is logged is not escaped:\n%s", reader, text)
			}
		}
		if code, said := run("replay", file); code != cli.ExitViolated || !strings.Contains(said, "still happens") {
			t.Errorf("replay: exit code %d: %s", code, said)
		}
	}
}

// served returns the first page of a record that is served.
func served(t *testing.T, file string) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	reader, writer := io.Pipe()
	var complaints bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- cli.Run(ctx, []string{"serve", file, "--addr", "127.0.0.1:0"}, cli.Streams{Out: writer, Err: &complaints}, talkative())
		_ = writer.Close()
	}()
	said, err := bufio.NewReader(reader).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", err, &complaints)
	}
	response, err := http.Get(regexp.MustCompile(`http://127\.0\.0\.1:\d+/`).FindString(said))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	stop()
	<-ended
	return string(body)
}
