package cli_test

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Controllers do what they like: each of these is a finding, a reason or an error that says what was at work, and none
// takes the command down or keeps it from ending in time.
func TestHostileControllers(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the command some seventy times")
	}
	t.Parallel()
	command := filepath.Join(t.TempDir(), "hostile")
	if out, err := exec.Command("go", "build", "-o", command, "./testdata/hostile").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	fatal := "the code ended the process"
	for name, want := range map[string]struct {
		code  int
		texts []string
	}{
		"exit-0":          {1, []string{"exited with the code 0", "hostile, reconciling default/a", fatal}},
		"exit-1":          {1, []string{"exited with the code 1"}},
		"exit-3":          {1, []string{"exited with the code 3"}},
		"log-fatal":       {1, []string{"exited with the code 1", "it is over"}},
		"goroutine-panic": {1, []string{"panic: boom (at main.controllers", "no stuck reconcile"}},
		"goroutine-nil":   {1, []string{"nil pointer dereference (at main.controllers"}},
		"goroutine-exit":  {1, []string{"exited with the code 0"}},
		"left-panic":      {1, []string{"panic: left behind (at main.controllers"}},
		"timer-panic":     {1, []string{"panic: later (at main.controllers"}},
		"stack-overflow":  {1, []string{"fatal error: stack overflow (at main.deep"}},
		"small-stack":     {1, []string{"fatal error: stack overflow (at main.deep"}},
		"map-writes":      {1, []string{"fatal error: concurrent map writes (at main.concurrentWrites"}},
		"unlock":          {1, []string{"unlock of unlocked mutex (at main.controllers"}},
		"rw-unlock":       {1, []string{"RUnlock of unlocked RWMutex (at main.controllers"}},
		"segfault":        {1, []string{"fatal error: fault (at main.controllers"}},
		"close-closed":    {1, []string{"close of closed channel (at main.controllers"}},
		"defer-exit":      {1, []string{"exited with the code 0"}},
		"exit-second":     {1, []string{"exited with the code 0", `data.k: "v" → "w"`}},
		"handler-exit":    {1, []string{"handling an event of ConfigMap default/a", "exited with the code 0"}},
		"predicate-exit":  {1, []string{"handling an event of ConfigMap default/a", "exited with the code 0"}},
		"index-exit":      {3, []string{"come to no end", "exited with the code 0"}},
		"set-up-exit":     {3, []string{"come to no end", "exited with the code 0"}},
		"set-up-go-panic": {3, []string{"come to no end", "panic: in the set-up (at main.controllers"}},
		"runnable-exit":   {2, []string{`setting up controller "hostile" ended the process`}},
		"runnable-panic":  {2, []string{`setting up controller "hostile" panicked: in a runnable`}},
		"runnable-go":     {2, []string{"in a goroutine of a runnable"}},

		"spin":            {3, []string{"time limit"}},
		"busy":            {3, []string{"time limit"}},
		"deadlock":        {1, []string{"waits for ever for a lock: nobody is left who could unlock it"}},
		"handler-spin":    {3, []string{"time limit"}},
		"predicate-spin":  {3, []string{"time limit"}},
		"runnable-spin":   {3, []string{"time limit"}},
		"block":           {1, []string{"blocked for ever"}},
		"goexit":          {1, []string{"ended its goroutine"}},
		"wait-forever":    {1, []string{"blocked for ever"}},
		"endless-calls":   {1, []string{"made more than"}},
		"handler-block":   {1, []string{"blocked for ever"}},
		"handler-goexit":  {1, []string{"ended its goroutine"}},
		"handler-panic":   {1, []string{"panics: in a handler"}},
		"predicate-panic": {1, []string{"panics: in a predicate"}},
		"index-spin":      {3, []string{"has not returned within"}},
		"index-block":     {3, []string{"has not returned within"}},
		"index-sleep":     {3, []string{"has not returned within"}},
		"index-goexit":    {3, []string{"ended its goroutine"}},
		"index-panic":     {3, []string{"it panicked: in an index"}},
		"set-up-spin":     {2, []string{"has not returned after"}},
		"set-up-block":    {2, []string{"has not returned after"}},
		"set-up-goexit":   {2, []string{"ended its goroutine"}},
		"set-up-panic":    {2, []string{"it panicked: in the set-up"}},

		"panic":           {1, []string{"panics: boom (at main.controllers"}},
		"panic-nil":       {1, []string{"panics: panic called with nil"}},
		"panic-error":     {1, []string{"no text"}},
		"error-panics":    {1, []string{"panics: no text (at main.stubborn.Error"}},
		"error-nil":       {1, []string{"nil pointer dereference"}},
		"error-always":    {1, []string{"retries default/a forever: always"}},
		"error-huge":      {1, []string{"retries default/a forever: xxx"}},
		"nil-object":      {1, []string{"nil pointer dereference"}},
		"nil-list":        {1, []string{"expected pointer"}},
		"nil-context":     {1, []string{"nil pointer dereference"}},
		"waitgroup-reuse": {1, []string{"negative WaitGroup counter"}},

		"network-refused": {3, []string{"hostile talks to the network in main.controllers.func", "(hostile/controllers.go:", "Give the controller a client"}},
		"network-packet":  {3, []string{"hostile talks to the network in main.controllers.func"}},
		"network-http":    {3, []string{"hostile talks to the network in main.ask (hostile/controllers.go:"}},
		"network-waits":   {3, []string{"did not return within 10s and waits for the network"}},
		"program":         {3, []string{"hostile starts another program in main.controllers.func"}},
		"standard-input":  {0, []string{"The files that hostile reads in main.controllers.func"}},
		"file":            {0, []string{"The files that hostile reads in main.controllers.func"}},

		"network-name":     {3, []string{"hostile talks to the network in main.controllers.func"}},
		"lazy-channel":     {3, []string{"synctest", "in a package variable"}},
		"lazy-ticker":      {3, []string{"synctest", "in a package variable"}},
		"set-up-goroutine": {0, []string{"background: hostile works between its activations", "1 outcome"}},
		"set-up-answers":   {0, []string{"1 outcome"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := "40s" // other limits come first
			if slices.Contains(want.texts, "time limit") {
				limit = "2s"
			}
			const end = time.Minute
			ctx, stop := context.WithTimeout(t.Context(), end)
			defer stop()
			var out bytes.Buffer
			c := exec.CommandContext(ctx, command, "check", name, "--max-time", limit)
			c.Stdout, c.Stderr = &out, &out
			c.WaitDelay = time.Second
			if err := c.Run(); c.ProcessState.ExitCode() != want.code {
				t.Errorf("it ends with %v, want the exit code %d", err, want.code)
			}
			for _, text := range want.texts {
				if !strings.Contains(out.String(), text) {
					t.Errorf("it does not say %q", text)
				}
			}
			if t.Failed() {
				t.Logf("%.6000s", out.String())
			}
		})
	}
}
