package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/orrery-dev/orrery/record"
)

// Terminal is where a record is shown.
type Terminal struct {
	// In and Out are the terminal.
	In  io.Reader
	Out io.Writer
	// Environment is what the process knows of it: TERM, NO_COLOR and the like, as [os.Environ] returns them.
	Environment []string
}

// Run shows a record in a terminal until the user quits. Then the terminal is as it was before. When the context ends
// before, the error says so.
func Run(ctx context.Context, r *record.Record, on Terminal) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	program := tea.NewProgram(newApp(ctx, r), tea.WithContext(ctx), tea.WithInput(on.In), tea.WithOutput(on.Out),
		tea.WithEnvironment(on.Environment), tea.WithoutSignalHandler())
	_, err := program.Run()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && !errors.Is(err, tea.ErrProgramPanic):
		return fmt.Errorf("interrupted: %w", ctx.Err())
	}
	return fmt.Errorf("show the record in this terminal: %w", err)
}
