package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/pflag"

	kuberecorded "github.com/orrery-dev/orrery/adapters/kube/recorded"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record"
)

// fromFlags say in which recording a search begins.
type fromFlags struct {
	// recording is "RECORDING[@MOMENT]", empty for a search that begins as the system says.
	recording string
	later     string
}

func (f *fromFlags) add(flags *pflag.FlagSet) {
	f.later = string(kuberecorded.LaterUsers)
	flags.StringVar(&f.recording, "from", "", "begin at a moment of a recording that orrery trace reads, `RECORDING[@MOMENT]`: 12.5s after its beginning, a time, #134 for what is just behind entry 134; without one, at its end")
	flags.Var(&flagValue[string]{to: &f.later, parse: oneOf(string(kuberecorded.LaterUsers), string(kuberecorded.LaterAll), string(kuberecorded.LaterNone)), text: f.later, kind: "users|all|none"},
		"later", "which writes that others made later in the recording of --from may be made in the search, in that order: those of users, those of components of Kubernetes and of other controllers as well (all), or none")
}

// begin returns the system as it begins in the recording, or as it is if there is none.
func (f fromFlags) begin(ctx context.Context, system *core.System) (*core.System, error) {
	if f.recording == "" {
		if f.later != string(kuberecorded.LaterUsers) {
			return nil, fmt.Errorf("--later is about a recording: name one with --from, or leave it out")
		}
		return system, nil
	}
	name, moment, err := kuberecorded.SplitMoment(f.recording)
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	files, err := sources(ctx, []string{name})
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	begun, err := kuberecorded.Begin(system, files, moment, kuberecorded.Later(f.later))
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	return begun, nil
}

// rebuild builds the system of a record again, as it began there.
func (s *session) rebuild(ctx context.Context, header record.Header) (*core.System, error) {
	var params []string
	for _, name := range slices.Sorted(maps.Keys(header.Params)) {
		params = append(params, name+"="+header.Params[name])
	}
	system, _, err := s.build(header.System, params)
	if err != nil {
		return nil, err
	}
	return fromOf(header).begin(ctx, system)
}

// contents returns a hash of the recording, empty if there is none.
func (f fromFlags) contents() (string, error) {
	if f.recording == "" {
		return "", nil
	}
	name, _, err := kuberecorded.SplitMoment(f.recording)
	if err != nil {
		return "", err
	}
	files, err := sources(context.Background(), []string{name})
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for _, file := range files {
		in, err := file.Open()
		if err != nil {
			return "", err
		}
		_, err = io.Copy(hash, in)
		if err := errors.Join(err, in.Close()); err != nil {
			return "", fmt.Errorf("read %s: %w", file.Name, err)
		}
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// fromOf returns the flags with which a record was made.
func fromOf(header record.Header) fromFlags {
	f := fromFlags{later: string(kuberecorded.LaterUsers)}
	if given := header.Options["from"]; len(given) == 1 {
		f.recording = given[0]
	}
	if given := header.Options["later"]; len(given) == 1 {
		f.later = given[0]
	}
	return f
}
