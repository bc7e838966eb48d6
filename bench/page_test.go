package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestPages compares what is written of benchmarks, whose times are made up, with golden files.
func TestPages(t *testing.T) {
	for _, test := range []struct {
		name  string
		plan  Plan
		bench Bench
	}{
		{"full", FullPlan(2), pretending(pretender{})},
		{"quick", QuickPlan(1), Bench{
			Commands: []Command{{Tool: pretender{}, Systems: []string{Counters}}},
			Rivals: []Rival{
				{Name: Spin, Title: "SPIN", Missing: errors.New("there is no program spin in PATH")},
				{Name: Rumur, Title: "Rumur", Tool: pretender{}},
			},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			report, err := test.bench.Measure(t.Context(), test.plan)
			if err != nil {
				t.Fatal(err)
			}
			report.Machine = Machine{OS: "plan9", Architecture: "mips", Processors: 2, Go: "go1.0"}
			var text bytes.Buffer
			WriteText(&text, report)
			golden(t, test.name+".txt", text.Bytes())
			if test.plan.Quick {
				form, err := json.MarshalIndent(report, "", "  ")
				if err != nil {
					t.Fatal(err)
				}
				golden(t, test.name+".json", append(form, '\n'))
			}
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(path, got, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not as it was; go test ./bench -update writes it anew. Got\n%s", path, got)
	}
}

func TestNumber(t *testing.T) {
	for _, test := range []struct {
		value float64
		want  string
	}{
		{0, "0"}, {7, "7"}, {1.7, "1.70"}, {99.994, "99.99"}, {100.4, "100"}, {999.6, "1,000"},
		{1000, "1,000"}, {123456, "123,456"}, {4782969, "4,782,969"},
	} {
		if got := number(test.value); got != test.want {
			t.Errorf("%v: got %s, want %s", test.value, got, test.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 1<<50).Draw(t, "n")
		groups := strings.Split(count(n), ",")
		for _, group := range groups[1:] {
			if len(group) != 3 {
				t.Fatalf("%d is written %s", n, count(n))
			}
		}
		if strings.Join(groups, "") != strconv.Itoa(n) {
			t.Fatalf("%d is written %s", n, count(n))
		}
	})
}
