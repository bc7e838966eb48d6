package cel_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/properties/cel"
)

// TestMistakes checks what is said about expressions that make no sense, and where. With -update the golden file is
// written.
func TestMistakes(t *testing.T) {
	var said strings.Builder
	for _, expression := range []string{
		// Syntax.
		``,
		`pods.all(p, `,
		`pods.all(p p.metadata.name == "")`,
		`pods.size() == = 1`,
		`"open`,
		"pods.all(p,\n\tp.metadata.name ==== \"\")",
		// Names.
		`pdos.all(p, true)`,
		`Pods.all(p, true)`,
		`pods.every(p, true)`,
		`pods.all(p, q.metadata.name == "")`,
		`foo(1)`,
		`events.size() > 0`,
		`quota("1")`,
		// Kinds.
		`objects("Deploymet.apps").size() > 0`,
		`objects("Deployment.app").size() > 0`,
		`objects("deployment").size() > 0`,
		`objects("Widget").size() > 0`,
		`objects("widgets.example.com").size() > 0`,
		`objects("").size() > 0`,
		`objects("apps/v1beta1/Deployment").size() > 0`,
		`objects(1).size() > 0`,
		`objects("Pod", "").size() > 0`,
		`objects("Pod", variable("x")).size() > 0`,
		`objects("Node", "default").size() > 0`,
		`objects("Pod", "default", "web").size() > 0`,
		`objects("Po" + "d").size() > 0`,
		`object("Pod").hasValue()`,
		`object("Pod", 1, "x").hasValue()`,
		`object("Pod", "x").hasValue()`,
		`object("Node", "default", "x").hasValue()`,
		`variable(turn)`,
		`family("")`,
		// Fields.
		`deployments.all(d, d.spec.replcias > 0)`,
		`deployments.all(d, has(d.sttaus))`,
		`deployments.all(d, d.?spec.template.spec.?conatiners.size() > 0)`,
		"pods.all(p,\n\tp.metadata.name != \"\" &&\n\tp.spec.foo == 1)",
		`pods[0].metadata.labels.app.x == ""`,
		`"ümläut" == "" || pods.exists(p, p.metdata.name == "ü")`,
		// Types.
		`pods.size()`,
		`pods`,
		`pods.all(p, p.metadata.name)`,
		`pods.all(p, p.metadata.deletionTimestamp == "2000-01-01T00:00:00Z")`,
		`deployments.all(d, d.spec.replicas > "2")`,
		`pods[0].metadata.name + 1 == ""`,
		`object("Pod", "default", "x").spec.nodeName == ""`,
		`"a".matches("(")`,
		`timestamp("yesterday") < timestamp("2000-01-01T00:00:00Z")`,
		`[1, "a"].size() == 2`,
	} {
		p, err := cel.Compile(expression, cel.Types{})
		if err == nil {
			t.Errorf("%s is fine: %v", expression, p)
			continue
		}
		fmt.Fprintf(&said, "%s\n\n", err)
	}
	golden(t, "testdata/mistakes.txt", said.String())
}

// TestUnclear checks what is said where an expression is neither true nor false.
func TestUnclear(t *testing.T) {
	var said strings.Builder
	for _, expression := range []string{
		`pods.all(p, p.metadata.ownerReferences.size() > 0)`,
		`pods.all(p,
	p.status.phase != "" &&
	p.status.podIP != "")`,
		`pods.all(p, p.metadata.labels["tier"] == "front")`,
		`pods[2].metadata.name == ""`,
		`services[0].metadata.name == ""`,
		`object("Pod", "shop", "none").value().metadata.name == ""`,
		`objects("Widget.example.com")[0].spec.size`,
		`objects("Widget.example.com")[0].spec.parts < 1`,
		`objects("Widget.example.com")[0].spec.colour == "red"`,
		`objects("Widget.example.com")[0].spec.size / 0 == 1`,
		`deployments.all(d, d.status.updatedReplicas == d.spec.replicas)`,
		`pods.all(p, quantity(p.spec.nodeName).isInteger())`,
		`variable("turn") == 1`,
		`core.v1.Pod{} == pods[0]`,
	} {
		p, err := cel.Compile(expression, cel.Types{})
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		holds, err := p.Holds(worldOf(t, shop))
		if err == nil || holds {
			t.Errorf("%s is %t, %v", expression, holds, err)
			continue
		}
		fmt.Fprintf(&said, "%s\n\n", err)
	}
	golden(t, "testdata/unclear.txt", said.String())
}

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s says:\n%s\nbut now:\n%s", file, want, got)
	}
}
