package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/cli"
)

// TestServe serves a record, takes a step in it with the code of the system, and ends.
func TestServe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.orr")
	if code, _, complaints := run(t, "check", "fake/holds", "--out", file); code != cli.ExitHolds {
		t.Fatal(complaints)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	reader, writer := io.Pipe()
	var complaints bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- fakeCommand().Run(ctx, []string{"serve", file, "--addr", "127.0.0.1:0"}, cli.Streams{Out: writer, Err: &complaints})
		_ = writer.Close()
	}()
	line, err := bufio.NewReader(reader).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", err, complaints.String())
	}
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+/`).FindString(line)
	if !strings.Contains(line, "Serving "+file) || address == "" {
		t.Fatalf("it says %q", line)
	}
	for path, want := range map[string]string{"": "fake/holds", "states": "Where it can still end", "states/0": "Go on from here step by step", "walk": "Choose the next step"} {
		response, err := http.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("/%s: %s, %v, want %q in:\n%s", path, response.Status, err, want, body)
		}
	}
	// An address that is taken is named.
	taken := strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/")
	if code, _, complaints := run(t, "serve", file, "--addr", taken); code != cli.ExitUsage || !strings.Contains(complaints, "choose another address with --addr") {
		t.Errorf("exit code %d, and it says %q", code, complaints)
	}
	http.DefaultClient.CloseIdleConnections()
	stop()
	select {
	case code := <-ended:
		if code != cli.ExitHolds {
			t.Errorf("exit code %d: %s", code, complaints.String())
		}
	case <-time.After(30 * time.Second):
		t.Error("it does not end")
	}
}
