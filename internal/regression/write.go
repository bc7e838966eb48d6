package regression

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/printer"
	"slices"
	"strings"
)

// Pinned is what a test is to pin.
type Pinned struct {
	// Name is the name of the new test, and Of that of the test with the check.
	Name, Of string
	// Summary says in a sentence what happens.
	Summary string
	// Record is the file with the run, from the folder of the test, with slashes.
	Record string
}

// Source returns the source of a test that runs again what was found: a test beside the check, or a spec of Ginkgo
// beside a spec. The error says what keeps the system from being made there.
func (c *Check) Source(pinned Pinned) ([]byte, error) {
	s, err := c.slice()
	if err != nil {
		return nil, err
	}
	before, ginkgo := c.ginkgo()
	test, isName := c.test().(*ast.Ident)
	if !isName && !ginkgo {
		return nil, fmt.Errorf("the test is %s there, which is neither a parameter nor GinkgoT()", c.text(c.test()))
	}
	var body strings.Builder
	for _, statement := range s.statements {
		body.WriteString(c.text(statement) + "\n")
	}
	for _, name := range s.unused {
		fmt.Fprintf(&body, "_ = %s\n", name)
	}
	fmt.Fprintf(&body, "%sReplayFile(%s, %s, %q)\n", c.qualifier(modulePath), c.text(c.test()), c.text(c.system()), pinned.Record)

	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\n%s\n", c.file.Name.Name, c.importsOf(s, ginkgo))
	if ginkgo {
		comment(&b, fmt.Sprintf("A check in %s found this run. The spec fails as long as it happens.", pinned.Of))
		fmt.Fprintf(&b, "var _ = %sIt(%q, func() {\n%s})\n", before, pinned.Name+": "+oneLine(pinned.Summary), &body)
	} else {
		comment(&b, fmt.Sprintf("%s runs again what a check in %s found, and fails as long as it happens: %s", pinned.Name, pinned.Of, oneLine(pinned.Summary)))
		fmt.Fprintf(&b, "func %s(%s %sT) {\n%s}\n", pinned.Name, test.Name, "*"+c.qualifierOr("testing", "testing."), &body)
	}
	return format.Source([]byte(b.String()))
}

// comment writes a sentence as a comment.
func comment(b *strings.Builder, sentence string) { fmt.Fprintf(b, "// %s\n", sentence) }

// oneLine returns text without anything that ends a line or cannot be seen.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' || r == ' ' }), " ")
}

// qualifier is what stands before the names of a package.
func (c *Check) qualifier(path string) string { return c.qualifierOr(path, "") }

func (c *Check) qualifierOr(path, otherwise string) string {
	for _, i := range c.imports {
		switch {
		case i.path == path && i.name == ".":
			return ""
		case i.path == path:
			return i.name + "."
		}
	}
	return otherwise
}

// importsOf returns the imports that the test needs.
func (c *Check) importsOf(s *slice, ginkgo bool) string {
	needed := func(i imported) bool {
		switch {
		case i.path == modulePath, i.path == "testing" && !ginkgo, strings.HasPrefix(i.path, ginkgoPath) && ginkgo:
			return true
		case i.name == ".":
			return slices.ContainsFunc(s.names(), func(name string) bool {
				return ast.IsExported(name) && !c.declared[name] && c.pathOf(name) == "" && !strings.HasPrefix(name, "Ginkgo")
			})
		}
		return s.mentioned[i.name] || c.isMentioned(i.name)
	}
	groups := [2]strings.Builder{}
	for _, i := range c.imports {
		if !needed(i) {
			continue
		}
		group := 1
		if host, _, _ := strings.Cut(i.path, "/"); !strings.Contains(host, ".") {
			group = 0
		}
		line := fmt.Sprintf("%q\n", i.path)
		if i.name != i.path[strings.LastIndexByte(i.path, '/')+1:] {
			line = i.name + " " + line
		}
		groups[group].WriteString(line)
	}
	if !ginkgo && c.qualifierOr("testing", "none") == "none" {
		groups[0].WriteString("\"testing\"\n")
	}
	return "import (\n" + groups[0].String() + "\n" + groups[1].String() + ")\n"
}

// names returns the names that a slice mentions.
func (s *slice) names() []string {
	var all []string
	for name := range s.mentioned {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// isMentioned reports whether the expression for the test mentions a name.
func (c *Check) isMentioned(name string) bool { return names(c.test())[name] }

// text returns code as it is printed.
func (c *Check) text(node ast.Node) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, c.files, node); err != nil {
		return ""
	}
	return b.String()
}
