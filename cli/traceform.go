package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/orrery-dev/orrery/adapters/page"
	"github.com/orrery-dev/orrery/record/atomicfile"
)

// answerForm says in which form an answer about recordings is wanted.
type answerForm struct {
	format string
	html   pageFile
}

func newAnswerForm() *answerForm { return &answerForm{format: "text"} }

// flags lets the user of a command choose.
func (f *answerForm) flags(command *cobra.Command) {
	addFormat(command, &f.format)
	command.Flags().StringVar(f.html.flag("--html"), "html", "", "write the answer to `FILE`, as a page for browsers that needs nothing else, instead of text")
	command.MarkFlagsMutuallyExclusive("html", "format")
}

// pageFile is a file that a flag names.
type pageFile struct{ name, path string }

// flag returns where the value of the flag goes.
func (f *pageFile) flag(name string) *string {
	f.name = name
	return &f.path
}

// wanted reports whether a file is named.
func (f *pageFile) wanted() bool { return f.path != "" }

// write writes the file, whole or not at all, and says so.
func (f *pageFile) write(out io.Writer, write func(io.Writer) error) error {
	file, err := atomicfile.Create(f.path)
	if err == nil {
		defer file.Discard()
		err = commit(file, write)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	_, err = fmt.Fprintf(out, "The answer is in %s.\n", f.path)
	return err
}

// enough makes of a full page one that says so, and returns any other error. How the answer gets shorter is said in
// words.
func (a *answers) enough(err error, shorter string) error {
	if a.page == nil || !errors.Is(err, page.ErrFull) {
		return err
	}
	a.page.LeaveOut(fmt.Sprintf("These are the first %d answers: what the recordings have behind them was not read. For a shorter answer, %s. All are in the answer as text, and with --format json.", a.number, shorter))
	return nil
}

// formatFlag lets the user of a command choose between text and JSON.
func formatFlag(format *string) func(*cobra.Command) {
	return func(command *cobra.Command) { addFormat(command, format) }
}
