package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/orrery-dev/orrery/catalog"
)

// ListSchema names the form of what list writes as JSON.
const ListSchema = "orrery.list/v1"

// listed is the JSON form of the list of systems.
type listed struct {
	Schema  string         `json:"schema"`
	Systems []listedSystem `json:"systems"`
}

type listedSystem struct {
	Name   string        `json:"name"`
	Doc    string        `json:"doc"`
	Params []listedParam `json:"params"`
}

type listedParam struct {
	Name    string `json:"name"`
	Doc     string `json:"doc"`
	Default int    `json:"default"`
	Min     int    `json:"min"`
	Max     int    `json:"max"`
}

func (s *session) listCommand() *cobra.Command {
	format := "text"
	command := &cobra.Command{
		Use:   "list",
		Short: "List the systems that can be checked, with their parameters",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if format == "json" {
				return writeJSON(s.streams.Out, listOf(s.Entries))
			}
			writeList(s.streams.Out, s.Entries)
			return nil
		},
	}
	addFormat(command, &format)
	return command
}

// addFormat adds the flag that chooses between text and JSON.
func addFormat(command *cobra.Command, format *string) {
	command.Flags().Var(&flagValue[string]{to: format, parse: oneOf("text", "json"), text: *format, kind: "text|json"},
		"format", "output format")
}

func writeList(w io.Writer, entries []catalog.Entry) {
	for i, entry := range entries {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s\n    %s\n", entry.Name, entry.Doc)
		for _, p := range entry.Params {
			fmt.Fprintf(w, "    --param %s=%d  %s (%d to %d)\n", p.Name, p.Default, p.Doc, p.Min, p.Max)
		}
	}
}

func listOf(entries []catalog.Entry) listed {
	list := listed{Schema: ListSchema, Systems: []listedSystem{}}
	for _, entry := range entries {
		system := listedSystem{Name: entry.Name, Doc: entry.Doc, Params: []listedParam{}}
		for _, p := range entry.Params {
			system.Params = append(system.Params, listedParam(p))
		}
		list.Systems = append(list.Systems, system)
	}
	return list
}

// writeJSON writes a value as one JSON object, for programs and people.
func writeJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
