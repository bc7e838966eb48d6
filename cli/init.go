package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/internal/scaffold"
)

func (s *session) initCommand() *cobra.Command {
	var force, dry bool
	var program string
	command := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a first check for a project with controllers",
		Long: `Init reads the Go module in DIR, or in the current folder, and writes a test that checks its
controllers, and a workflow of GitHub Actions that runs the test. It is for projects on
controller-runtime, made with kubebuilder or by hand.

It looks for
  - functions that register controllers or webhooks on a manager, such as SetupWithManager,
    and for how main.go calls them
  - what main.go adds to its scheme, and says of the manager's cache and client
  - custom resource definitions (config/crd/bases), samples (config/samples, or else what
    other YAML files have), and webhook configurations (config/webhook/manifests.yaml)
  - RBAC markers: it says what they do not allow with the kinds that controllers watch,
    as a check does not enforce permissions

It says what it did not find, and what to add. The project is not built, so its code may be
unfinished. A file that is there already is never overwritten, unless --force is given: then
nothing is written.

Exit codes: 0 the files are written, 2 bad usage, or nothing to check.`,
		Args: func(command *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("%s takes the folder of one Go module, but got %d arguments", command.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			folder := "."
			if len(args) == 1 {
				folder = args[0]
			}
			return s.init(folder, program, force, dry)
		},
	}
	command.Flags().BoolVar(&force, "force", false, "overwrite files that are there already")
	command.Flags().BoolVar(&dry, "dry-run", false, "print the files instead of writing them")
	command.Flags().StringVar(&program, "program", "", "check the controllers of the program whose main package is in this `FOLDER` of the module; the one that sets up most of them if it has several")
	return command
}

// init writes a first check for the project in a folder, or for one of its programs.
func (s *session) init(folder, program string, force, dry bool) error {
	project, err := scaffold.Read(folder)
	if err != nil {
		return err
	}
	if err := project.Choose(program); err != nil {
		return err
	}
	plan, err := planned(project, folder)
	if err != nil {
		return err
	}
	out := s.streams.Out
	if dry {
		for _, f := range plan.Files {
			fmt.Fprintf(out, "-- %s --\n%s\n", f.Path, f.Text)
		}
	} else {
		if err := plan.Write(folder, force); err != nil {
			return err
		}
		for _, f := range plan.Files {
			fmt.Fprintf(out, "wrote %s\n", filepath.ToSlash(filepath.Join(folder, f.Path)))
		}
		fmt.Fprintln(out)
	}
	paragraph(out, "Found:", plan.Found)
	paragraph(out, "Look at this:", plan.Missing)
	paragraph(out, "The RBAC markers do not allow what follows, which controllers may well not do. A check allows all calls, so it does not show if one is refused:", plan.Denied)
	fmt.Fprintf(out, "Now run%s:\n", in(folder))
	for _, command := range plan.Next {
		fmt.Fprintf(out, "    %s\n", command)
	}
	return nil
}

// in says where, unless it is here.
func in(folder string) string {
	if filepath.Clean(folder) == "." {
		return ""
	}
	return " in " + folder
}

// paragraph writes a title with lines below it, nothing if there are none.
func paragraph(w io.Writer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintln(w, title)
	for _, line := range lines {
		fmt.Fprintf(w, "    %s\n", line)
	}
	fmt.Fprintln(w)
}

// planned returns what is to be written for the project in a folder, without objects that a server refuses.
func planned(project *scaffold.Project, folder string) (*scaffold.Plan, error) {
	var left []string
	for {
		plan, err := project.Plan()
		if err != nil {
			return nil, err
		}
		definitions := make([]string, len(plan.Definitions))
		for i, path := range plan.Definitions {
			definitions[i] = filepath.Join(folder, filepath.FromSlash(path))
		}
		var against []string
		again := false
		for _, objects := range plan.Objects {
			refused, drops, err := kube.Refusals(objects.Path, objects.Text, definitions...)
			switch {
			case err != nil:
				against = append(against, err.Error())
			case len(refused) == 0:
				against = append(against, drops...)
			case objects.Of != "":
				_, why, _ := strings.Cut(refused[0], "no check can begin with it: ")
				project.Refuse(objects.Of, why)
				again = true
			default:
				project.LeaveOut(objects.Path)
				left, again = append(left, refused...), true
			}
		}
		if again {
			continue
		}
		for _, why := range left {
			plan.Missing = append(plan.Missing, why+"; the file is left out")
		}
		slices.Sort(against) // the same is said once, where definitions cannot be read
		plan.Missing = append(plan.Missing, slices.Compact(against)...)
		return plan, nil
	}
}
