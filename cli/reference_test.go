package cli

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestReference compares docs/reference.md with what the commands say of themselves.
func TestReference(t *testing.T) {
	const file = "../docs/reference.md"
	s := &session{Command: Command{}, streams: Streams{Out: io.Discard, Err: io.Discard}}
	var got strings.Builder
	got.WriteString(`# Reference of the command

<!-- go test ./cli -run TestReference -update writes this file. -->

What each command does, as its ` + "`--help`" + ` says. The JSON that ` + "`check --format json`" + ` writes has a [schema](report.schema.json).

| environment variable | what it does |
| --- | --- |
| ` + "`ORRERY_SUPERVISOR=off`" + ` | runs controllers in the process of the command, as for a debugger: what ends the process ends the check |
| ` + "`NO_COLOR`" + ` | leaves out colors, if it is not empty |
`)
	documentCommand(&got, s.root())
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("%s is not what the commands say: go test ./cli -run TestReference -update", file)
	}
}

// documentCommand writes what a command and those below it say of themselves.
func documentCommand(w io.Writer, command *cobra.Command) {
	fmt.Fprintf(w, "\n## %s\n\n%s.\n\n```\n", command.CommandPath(), strings.TrimSuffix(command.Short, "."))
	if command.Runnable() {
		fmt.Fprintf(w, "%s\n", command.UseLine())
	}
	fmt.Fprintf(w, "```\n")
	if command.Long != "" {
		fmt.Fprintf(w, "\n```text\n%s\n```\n", strings.TrimSpace(command.Long))
	}
	first := true
	command.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if first {
			fmt.Fprint(w, "\n| flag | what it does |\n| --- | --- |\n")
			first = false
		}
		argument, usage := pflag.UnquoteUsage(f)
		if argument != "" {
			argument = " " + argument
		}
		fmt.Fprintf(w, "| `--%s%s` | %s |\n", f.Name, strings.ReplaceAll(argument, "|", "\\|"), strings.ReplaceAll(strings.ReplaceAll(usage, "|", "\\|"), "<", "&lt;"))
	})
	for _, below := range command.Commands() {
		if !below.Hidden && below.Name() != "help" {
			documentCommand(w, below)
		}
	}
}
