package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/record/checkpoint"
)

// keepsCheckpoint reports whether an argument asks for a checkpoint.
func keepsCheckpoint(argument string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(argument, "-"), "=")
	return strings.HasPrefix(argument, "--") && (name == "checkpoint" || name == "resume")
}

// openCheckpoint opens the checkpoint that the flags ask for, nil if they ask for none.
func (s *session) openCheckpoint(f *checkFlags, system string, values catalog.Values) (*checkpoint.File, error) {
	switch {
	case f.checkpoint == "" && f.resume == "":
		return nil, nil
	case f.thorough:
		return nil, errors.New("--thorough makes several checks, each within its share of the time, and keeps no checkpoints: leave out --checkpoint and --resume, or --thorough")
	case f.search != string(orrery.BreadthFirst) && f.search != string(orrery.DepthFirst):
		return nil, fmt.Errorf("walks keep no checkpoints, as they are repeated by their seed: leave out --checkpoint and --resume, or use --search %s or %s", orrery.BreadthFirst, orrery.DepthFirst)
	}
	for _, file := range []struct{ flag, path string }{{"--out", f.out}, {"--dot", f.dot}, {"--html", f.html}} {
		for _, path := range []string{f.checkpoint, f.resume} {
			if file.path != "" && path != "" && same(file.path, path) {
				return nil, fmt.Errorf("%s names the file of the checkpoint, %s: give it another name", file.flag, path)
			}
		}
	}
	identity, err := f.identity(system, values)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(f.checkpoint); f.checkpoint != "" && err == nil && (f.resume == "" || !same(f.checkpoint, f.resume)) {
		fmt.Fprintf(s.streams.Err, "orrery: %s is there already and is going to be replaced; to go on from a checkpoint use --resume\n", f.checkpoint)
	}
	return checkpoint.Open(checkpoint.Options{Identity: identity, Resume: f.resume, Path: f.checkpoint, Every: f.checkpointInterval})
}

// closeCheckpoint saves the checkpoint, and says what there is to say of it.
func (s *session) closeCheckpoint(file *checkpoint.File) error {
	if file == nil {
		return nil
	}
	err := file.Close()
	if damage := file.Damage(); damage != "" {
		fmt.Fprintf(s.streams.Err, "orrery: %s\n", damage)
	}
	switch saved := file.Saved(); {
	case err != nil || !file.Cut():
	case saved == "":
		fmt.Fprintln(s.streams.Err, "orrery: the search ended before it came to where the checkpoint ends, which stays as it is")
	default:
		fmt.Fprintf(s.streams.Err, "orrery: the search can go on: --resume %s\n", shellWord(saved))
	}
	return err
}

// identity returns what a search under these flags depends on. Limits and workers make no difference to what is found
// up to some point.
func (f *checkFlags) identity(system string, values catalog.Values) (checkpoint.Identity, error) {
	binary, err := checkpoint.Binary()
	if err != nil {
		return nil, fmt.Errorf("tell the binary from others: %w", err)
	}
	identity := checkpoint.Identity{binary, {Name: "the system", Value: system}}
	params := values.Strings()
	names := make([]string, 0, len(params))
	for name := range params {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		identity = append(identity, checkpoint.Trait{Name: "--param " + name, Value: params[name]})
	}
	for _, option := range []struct {
		flag  string
		value any
	}{
		{"search", f.search},
		{"reduction", f.reduction},
		{"granularity", f.granularity},
		{"max-depth", f.maxDepth},
		{"compact", f.compact},
		{"stale", f.stale},
		{"crashes", f.crashes},
		{"failures", f.failures},
		{"faults-in", f.faultsIn},
		{"double", f.doubles},
		{"orders", f.orders},
		{"deadlines", f.deadlines},
		{"ignore-memory", f.ignoredMemory},
		{"without", f.without},
		{"property", f.properties},
		{"properties", f.propertyFiles},
		{"seed", f.seed},
		{"from", f.from.recording},
		{"later", f.from.later},
	} {
		text, err := json.Marshal(option.value)
		if err != nil {
			return nil, err
		}
		if list, several := option.value.([]string); several && len(list) == 0 {
			text = nil
		}
		identity = append(identity, checkpoint.Trait{Name: "--" + option.flag, Value: string(text)})
	}
	contents, err := f.from.contents()
	if err != nil {
		return nil, err
	}
	if contents != "" {
		identity = append(identity, checkpoint.Trait{Name: "what is in the recording of --from", Value: contents, Opaque: true})
	}
	for _, path := range f.propertyFiles {
		contents, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		identity = append(identity, checkpoint.Trait{Name: "what is in " + path, Value: string(contents), Opaque: true})
	}
	return identity, nil
}
