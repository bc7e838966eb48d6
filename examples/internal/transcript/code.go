package transcript

import (
	"regexp"
	"testing"
)

var (
	// block finds a block of a document, with the line before it.
	block = regexp.MustCompile("(?sm)^([^\n]*)\n```([a-z]*)\n(.*?)^```$")
	// source finds the file that a block comes from: all of it, or a part.
	source = regexp.MustCompile(`^<!-- (file|part of) (\S+) -->$`)
)

// CompareCode compares the Go code in a document with the files that it comes from. The line before each block names the file, from the
// root: "file" before a block that has all of it, "part of" before one with a part, in which a line with … stands for lines that are left
// out. Parts come in the order of the file. It returns the blocks of commands.
func CompareCode(t *testing.T, root, document string) (commands []string) {
	t.Helper()
	rest := map[string]string{}
	compared := 0
	for _, found := range block.FindAllStringSubmatch(read(t, root, document), -1) {
		before, language, code := found[1], found[2], found[3]
		if language == "sh" {
			commands = append(commands, code)
		}
		if language != "go" {
			continue
		}
		compared++
		named := source.FindStringSubmatch(before)
		if named == nil {
			t.Errorf("%s does not say of which file this is a part:\n%s", document, code)
			continue
		}
		file := named[2]
		text := read(t, root, file)
		if named[1] == "file" {
			if code != text {
				t.Errorf("%s does not show %s as it is: copy it there", document, file)
			}
			continue
		}
		if _, begun := rest[file]; !begun {
			rest[file] = text
		}
		part, behind, gone := follow(code, rest[file])
		if rest[file] = behind; gone {
			t.Errorf("%s shows code that is not in %s, or not behind what it shows of it before:\n%s", document, file, part)
		}
	}
	if compared == 0 {
		t.Fatalf("%s shows no code", document)
	}
	return commands
}
