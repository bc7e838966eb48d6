package conformance

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/orrery-dev/orrery/adapters/kube/conformance/mutation"
	"github.com/orrery-dev/orrery/adapters/kube/controlplane"
)

// FieldRow is what was counted of a base, for a page.
type FieldRow struct {
	Kind string
	// Fields, Values, Requests and Refused are the Paths, Mutations, Requests and Refused of
	// a [FieldTally].
	Fields, Values, Requests, Refused int
	// Accepted is how much of what the real server refused was accepted, Other how many
	// other differences a controller can get to see, and Words how many refusals were in other words.
	Accepted, Other, Words int
}

// NewFieldRow returns what was counted of a base.
func NewFieldRow(kind string, t *FieldTally) FieldRow {
	row := FieldRow{Kind: kind, Fields: t.Paths, Values: t.Mutations, Requests: t.Requests, Refused: t.Refused}
	for class, n := range t.Differences {
		switch {
		case class == Accepts:
			row.Accepted += n
		case class.Decides():
			row.Other += n
		default:
			row.Words += n
		}
	}
	return row
}

// String is the row as Markdown.
func (r FieldRow) String() string {
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d | %d |", r.Kind, r.Fields, r.Values, r.Requests, r.Refused, r.Accepted, r.Other, r.Words)
}

// FieldsPage is a page about what measurements found field by field.
type FieldsPage struct {
	// Upstream is about the rules of a real server, and Own about those of package kube.
	Upstream, Own []FieldRow
}

const (
	fieldColumns = "| kind | fields | values | requests | refused by the real server | of these accepted | other answers or objects | other words |\n" +
		"| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
	ownHeading = "## Without them\n"
	totalRow   = "**all**"
)

// ReadFieldsPage reads a page that [FieldsPage.String] has written.
func ReadFieldsPage(text string) (FieldsPage, error) {
	upstream, own, found := strings.Cut(text, ownHeading)
	if !found {
		return FieldsPage{}, fmt.Errorf("the page has no heading %q", strings.TrimSpace(ownHeading))
	}
	var page FieldsPage
	var errs [2]error
	page.Upstream, errs[0] = readFieldRows(upstream)
	page.Own, errs[1] = readFieldRows(own)
	return page, errors.Join(errs[:]...)
}

// UpdateFieldsPage changes a page that there may be in a file.
func UpdateFieldsPage(file string, change func(*FieldsPage)) error {
	var page FieldsPage
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return err
	default:
		if page, err = ReadFieldsPage(string(text)); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	change(&page)
	const readable = 0o644
	return os.WriteFile(file, []byte(page.String()), readable)
}

func readFieldRows(text string) ([]FieldRow, error) {
	_, table, _ := strings.Cut(text, fieldColumns)
	var rows []FieldRow
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| ") {
			break
		}
		var r FieldRow
		if _, err := fmt.Sscanf(line, "| %s | %d | %d | %d | %d | %d | %d | %d |",
			&r.Kind, &r.Fields, &r.Values, &r.Requests, &r.Refused, &r.Accepted, &r.Other, &r.Words); err != nil {
			return nil, fmt.Errorf("%s: %w", strings.TrimSpace(line), err)
		}
		if r.Kind != totalRow {
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// String is the page as Markdown.
func (p FieldsPage) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Field by field

<!-- Written by two tests: see CONTRIBUTING.md. -->

Small objects of Kubernetes' own kinds are changed one field at a time, to values that should be right and to some that should be
wrong, in creates, updates and updates of the status. The simulated API server is compared with kube-apiserver %s: what is accepted,
what is stored, and what a refusal says.

## With the rules of a real server

The rules of [adapters/kube/upstream](../adapters/kube/upstream), which a main of your own selects
([how](decisions/0036-rules-of-a-real-server.md)). There is no difference that a controller can get to see, but for those below.

`, controlplane.Version)
	writeFieldRows(&b, p.Upstream)
	fmt.Fprintf(&b, `
%s
Orrery's own rules. A field of which something is accepted that the real server refuses is on
[a list](../adapters/kube/fieldrules/checked.txt), and is named in the report of each check in which an object sets it.

`, ownHeading)
	writeFieldRows(&b, p.Own)
	b.WriteString("\nA kind that is there twice was changed from two objects.\n\n## Differences that are not counted\n\n| difference | rules | reason |\n| --- | --- | --- |\n")
	for _, a := range AcceptedFields() {
		rules := "both"
		if a.OwnRules {
			rules = "Orrery's own"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", a.Name, rules, a.Reason)
	}
	return b.String()
}

func writeFieldRows(b *strings.Builder, rows []FieldRow) {
	total := FieldRow{Kind: totalRow}
	b.WriteString(fieldColumns)
	for _, r := range rows {
		fmt.Fprintln(b, r)
		total.Fields += r.Fields
		total.Values += r.Values
		total.Requests += r.Requests
		total.Refused += r.Refused
		total.Accepted += r.Accepted
		total.Other += r.Other
		total.Words += r.Words
	}
	fmt.Fprintln(b, total)
}

//go:embed fields.yaml
var fieldsYAML []byte

// FieldBase is a small valid object, of which one field at a time is changed.
type FieldBase struct {
	Subject string          `json:"subject"`
	Object  json.RawMessage `json:"object"`
}

// FieldBases returns the objects whose fields are changed, and the subjects that they are
// about besides those of the random requests.
func FieldBases() ([]FieldBase, []Subject, error) {
	var list struct {
		Subjects []Subject   `json:"subjects"`
		Bases    []FieldBase `json:"bases"`
	}
	if err := yaml.UnmarshalStrict(fieldsYAML, &list); err != nil {
		return nil, nil, fmt.Errorf("fields.yaml: %w", err)
	}
	return list.Bases, list.Subjects, nil
}

// Constants returns the constants of the string types of Kubernetes' API, as of the version
// that the module of the working directory requires.
func Constants() (mutation.Constants, error) {
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/api").Output()
	if err != nil {
		return nil, fmt.Errorf("where k8s.io/api is: %w", err)
	}
	return mutation.ReadConstants(strings.TrimSpace(string(folder)))
}

// fieldMutations are the changes of a part of an object.
type fieldMutations struct {
	part mutation.Part
	*mutation.Mutations
}

// mutations returns the changes of each part of the kind's objects.
func (s Subject) mutations(scheme *runtime.Scheme, constants mutation.Constants) ([]fieldMutations, error) {
	typed, err := scheme.New(s.Kind())
	if err != nil {
		return nil, err
	}
	var all []fieldMutations
	for _, part := range s.parts() {
		found, err := mutation.Of(reflect.TypeOf(typed), part, constants)
		if err != nil {
			return nil, err
		}
		all = append(all, fieldMutations{part, found})
	}
	return all, nil
}
