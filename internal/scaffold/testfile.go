package scaffold

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const orreryPath = "github.com/orrery-dev/orrery"

// testFile is the test that is written.
type testFile struct {
	copier  *copier
	folder  string
	calls   []call
	schemes []string
	options []string
}

// call is code that sets something up, an expression that is an error, or some other values and one, behind statements
// that define what it needs.
type call struct {
	of    *registration
	code  string
	ahead []statement
}

// values names what the call returns, of which only the error matters.
func (c call) values() string {
	if c.of.setup == nil {
		return "err"
	}
	return strings.Repeat("_, ", c.of.setup.besides) + "err"
}

// write gathers what the test passes on besides the controllers.
func (t *testFile) write(p *Project, plan *Plan) {
	t.addSchemes(p, plan)
	t.addManager(p, plan)
	t.addManifests(p, plan)
	if slices.ContainsFunc(p.handled(), func(h handled) bool { return h.verb == "Owns" }) {
		t.options = append(t.options, "GarbageCollection()")
		plan.Found = append(plan.Found, "owned objects: the garbage collector is part of the check")
	}
	t.addDependencies(p, plan)
}

// versioned matches the names of packages that are named after the version of an API.
var versioned = regexp.MustCompile(`^v\d+((alpha|beta)\d+)?$`)

func (t *testFile) addSchemes(p *Project, plan *Plan) {
	const client = "k8s.io/client-go/kubernetes/scheme"
	added := []reference{{client, "AddToScheme"}}
	for _, r := range p.schemes {
		if r.path != client && p.sees(t.folder, r.path) {
			added = append(added, r)
		}
	}
	var names []string
	var more []string
	for _, of := range p.apis() {
		if !slices.ContainsFunc(added, func(r reference) bool { return r.path == of.path }) {
			added = append(added, reference{of.path, "AddToScheme"})
			more = append(more, of.path)
		}
	}
	if len(more) > 0 {
		plan.Missing = append(plan.Missing, fmt.Sprintf("main.go does not add %s to its scheme, but the test does: see whether it should", strings.Join(more, ", ")))
	}
	for _, r := range added {
		suggested := guessedName(r.path)
		switch of := p.packageAt(r.path); {
		case r.path == client:
			suggested = "clientgoscheme"
		case of == nil && versioned.MatchString(suggested):
			suggested = guessedName(path.Dir(r.path)) + suggested
		case of != nil:
			suggested = path.Base(path.Dir(of.path)) + of.name
			if group, version := p.groupVersion(of); group != "" {
				group, _, _ = strings.Cut(group, ".")
				suggested = group + version
			}
			suggested = strings.ReplaceAll(suggested, "-", "")
		}
		name := t.copier.text(t.copier.selector(suggested, r.path, r.name))
		t.schemes = append(t.schemes, name)
		names = append(names, strings.TrimSuffix(strings.TrimSuffix(name, ".AddToScheme"), ".Install"))
	}
	plan.Found = append(plan.Found, "scheme: "+strings.Join(names, ", "))
}

// sees reports whether code in a folder may import a package, as far as folders called internal decide.
func (p *Project) sees(folder, imported string) bool {
	at := strings.LastIndex("/"+imported+"/", "/internal/")
	if at < 0 {
		return true
	}
	above := strings.TrimSuffix(imported[:at], "/")
	own := path.Join(p.module.Module.Mod.Path, folder)
	return own == above || strings.HasPrefix(own, above+"/")
}

func (t *testFile) addManifests(p *Project, plan *Plan) {
	m := p.manifests
	if len(m.definitions) > 0 {
		t.options = append(t.options, "CRDs("+t.quoted(m.definitions)+")")
		plan.Definitions = m.definitions
		plan.Found = append(plan.Found, "definitions of custom resources: "+strings.Join(m.definitions, ", "))
	}
	for _, h := range p.handled() {
		if h.own && !m.serves(h.group, h.kind) {
			plan.Missing = append(plan.Missing, fmt.Sprintf("no definition of %s, which %s watches: generate it (make manifests), and add it by controllerruntime.CRDs", qualified(h.kind, h.group), h.by))
		}
	}
	var objects []string
	if len(m.samples) > 0 {
		objects = append(objects, m.samples...)
		plan.Found = append(plan.Found, "initial objects: "+strings.Join(m.samples, ", "))
	}
	for _, sample := range m.samples {
		data, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(sample)))
		if err != nil { // it was read before
			plan.Missing = append(plan.Missing, err.Error())
			continue
		}
		plan.Objects = append(plan.Objects, Objects{File{sample, data}, ""})
	}
	plan.Missing = append(plan.Missing, m.unusable...)
	if len(m.more) > 0 {
		plan.Missing = append(plan.Missing, fmt.Sprintf("one object of a kind is enough to begin with: add to controllerruntime.Objects those that could get in each other's way, of %s", strings.Join(m.more, ", ")))
	}
	if file := t.addStarters(p, plan); file != "" {
		objects = append(objects, file)
	}
	if len(objects) > 0 {
		t.options = append(t.options, "Objects("+t.quoted(objects)+")")
	} else {
		plan.Missing = append(plan.Missing, "no initial objects, so controllers have nothing to do: add files with some by controllerruntime.Objects")
	}
	if suite := p.suite(t.folder); suite != "" {
		plan.Missing = append(plan.Missing, fmt.Sprintf("%s has a TestMain, which runs before the check as well: if it starts a control plane, move the test to a folder of its own", suite))
	}
	webhooks := slices.ContainsFunc(p.registrations, func(r *registration) bool {
		return slices.ContainsFunc(p.within(r), func(s *setup) bool {
			_, webhooks := registersIn(s.in, s.decl.Body)
			return webhooks
		})
	})
	if webhooks && len(m.webhooks) > 0 {
		t.options = append(t.options, "WebhookConfigurations("+t.quoted(m.webhooks)+")")
		plan.Found = append(plan.Found, "webhook configurations: "+strings.Join(m.webhooks, ", "))
	}
}

// addStarters adds a file with objects of kinds that no sample has, and returns its path, empty if there are none.
func (t *testFile) addStarters(p *Project, plan *Plan) string {
	starters, missing := p.starters()
	plan.Missing = append(plan.Missing, missing...)
	if len(starters) == 0 {
		return ""
	}
	file := path.Join(t.folder, "testdata", "orrery.yaml")
	var made, from []string
	text := "# What a check begins with. orrery init put this together: say here what your users write.\n"
	for i, s := range starters {
		if i > 0 {
			text += "---\n"
		}
		if s.from == "" {
			made = append(made, s.kind)
		} else {
			text += "# from " + s.from + "\n"
			from = append(from, s.kind+" ("+s.from+")")
		}
		text += string(s.text)
		plan.Objects = append(plan.Objects, Objects{File{file, s.text}, s.kind})
	}
	plan.Files = append(plan.Files, File{file, []byte(text)})
	if len(from) > 0 {
		plan.Found = append(plan.Found, "initial objects, in "+file+": "+strings.Join(from, ", "))
	}
	if len(made) > 0 {
		plan.Missing = append(plan.Missing, fmt.Sprintf("no sample of %s: %s has a first one, made up; make it one that users would write", strings.Join(made, " and "), file))
	}
	return file
}

// suite returns the file of a folder in which tests have a TestMain, empty if there is none.
func (p *Project) suite(folder string) string {
	files, err := filepath.Glob(filepath.Join(p.root, filepath.FromSlash(folder), "*_test.go"))
	if err != nil {
		return ""
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.Contains("\n"+string(text), "\nfunc TestMain(") {
			return path.Join(folder, filepath.Base(file))
		}
	}
	return ""
}

// quoted returns paths as the test names them, from its own folder.
func (t *testFile) quoted(files []string) string {
	var all []string
	for _, file := range files {
		relative, err := filepath.Rel(filepath.FromSlash(t.folder), filepath.FromSlash(file))
		if err != nil { // both are below the root
			relative = file
		}
		all = append(all, fmt.Sprintf("%q", filepath.ToSlash(relative)))
	}
	return strings.Join(all, ", ")
}

// addDependencies says which kinds somebody else has to bring about.
func (t *testFile) addDependencies(p *Project, plan *Plan) {
	companions := map[string][]string{ // of a kind, and of what is made for it
		"Deployment.apps": {"Deployments", "ReplicaSets", "Pods"}, "StatefulSet.apps": {"StatefulSets", "VolumeClaims", "Pods"},
		"DaemonSet.apps": {"DaemonSets", "Pods"}, "ReplicaSet.apps": {"ReplicaSets", "Pods"}, "Job.batch": {"Jobs", "Pods"}, "Pod": {"Pods"},
	}
	seen := map[string]bool{}
	for _, h := range p.handled() {
		name := qualified(h.kind, h.group)
		if needed := companions[name]; len(needed) > 0 && h.verb != "For" && !seen[name] {
			seen[name] = true
			plan.Missing = append(plan.Missing, fmt.Sprintf("nothing runs %s: if %s waits for their status, add controllerruntime.Companions(companions.%s()) of %s/adapters/kube/companions",
				needed[0], h.by, strings.Join(needed, "(), companions."), orreryPath))
		}
	}
}

// text returns the test as source.
func (t *testFile) text() string {
	i := t.copier.imports
	name := func(suggested, imported string) string { return i.name(suggested, imported) }
	testing, orrery, adapter := name("testing", "testing"), name("orrery", orreryPath), name("controllerruntime", orreryPath+"/adapters/controllerruntime")
	runtime, ctrl := name("runtime", "k8s.io/apimachinery/pkg/runtime"), name("ctrl", runtimePath)
	var b strings.Builder
	fmt.Fprintf(&b, `// %[1]s explores every order in which the controllers can act, and fails if they do not settle, or not always in the same state.
func %[1]s(t *%[2]s.T) {
	scheme := %[3]s.NewScheme()
	for _, add := range []func(*%[3]s.Scheme) error{%[4]s} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	setUp := func(mgr %[5]s.Manager) error { // as main.go does; it is called for each run of a controller
`, testName, testing, runtime, strings.Join(t.schemes, ", "), ctrl)
	for n, call := range t.calls {
		for _, s := range call.ahead {
			if variable := t.copier.made[s]; s.fails {
				fmt.Fprintf(&b, "%s, err := %s\nif err != nil {\nreturn err\n}\n", variable, s.code)
			} else {
				fmt.Fprintf(&b, "%s := %s\n", variable, s.code)
			}
		}
		if values, last := call.values(), n == len(t.calls)-1; last && values == "err" {
			fmt.Fprintf(&b, "return %s\n}\n", call.code)
		} else if fmt.Fprintf(&b, "if %s := %s; err != nil {\nreturn err\n}\n", values, call.code); last {
			b.WriteString("return nil\n}\n")
		}
	}
	fmt.Fprintf(&b, "system := %s.ForTest(t, scheme,\n%s.Setup(setUp),\n", adapter, adapter)
	for _, option := range t.options {
		fmt.Fprintf(&b, "%s.%s,\n", adapter, option)
	}
	fmt.Fprintf(&b, ")\n%s.Check(t, system)\n}\n", orrery)
	return "package " + t.packageName() + "\n\n" + i.source(t.copier.project.module.Module.Mod.Path, b.String()) + "\n" + b.String()
}

// packageName is the name of the test's package.
func (t *testFile) packageName() string {
	if t.copier.inside != nil {
		return t.copier.inside.name
	}
	if of := t.copier.project.packages[t.folder]; of != nil {
		return of.name + "_test"
	}
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '.' {
			return -1
		}
		return r
	}, path.Base(t.folder)) + "_test"
}

// workflow returns a workflow of GitHub Actions that runs the test. It is where the repository begins, which may be
// above the project.
func (p *Project) workflow(folder string) File {
	above, below := "", ""
	if absolute, err := filepath.Abs(p.root); err == nil {
		for at := absolute; ; at = filepath.Dir(at) {
			if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
				if relative, err := filepath.Rel(at, absolute); err == nil && relative != "." {
					below = filepath.ToSlash(relative)
					above = strings.Repeat("../", strings.Count(below, "/")+1)
				}
				break
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	sum, where := "go.mod", ""
	if below != "" {
		sum, where = below+"/go.mod", "\n    defaults:\n      run:\n        working-directory: "+below
	}
	text := fmt.Sprintf(`# Checks the controllers in every order in which they can act. A run that goes wrong is kept as a page for browsers, and as a record to replay.
name: Orrery
on:
  push:
    branches: [main]
  pull_request:
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-latest
    timeout-minutes: 30%s
    steps:
    - uses: actions/checkout@v4
    - uses: actions/setup-go@v5
      with:
        go-version-file: %s
    - run: mkdir -p "$RUNNER_TEMP/orrery"
    - run: go test %s -run '^%s$' -orrery.out "$RUNNER_TEMP/orrery" -orrery.html "$RUNNER_TEMP/orrery"
    - if: failure()
      uses: actions/upload-artifact@v4
      with:
        name: orrery
        path: ${{ runner.temp }}/orrery
`, where, sum, inFolder(folder), testName)
	return File{above + ".github/workflows/orrery.yml", []byte(text)}
}
