package iotrace

import "testing"

// TestStandard tells packages of the standard library from those of modules, of which some have paths without a dot.
func TestStandard(t *testing.T) {
	m := modules{"operator", "corp/tools"}
	for dir, want := range map[string]bool{
		"net/http": true, "os": true, "operators/web": true, "corp": true,
		"operator": false, "operator/web": false, "corp/tools/x": false, "main": false, "example.com/web": false,
	} {
		if got := m.standard(dir); got != want {
			t.Errorf("%s is standard: %t", dir, got)
		}
	}
	if built().standard("github.com/orrery-dev/orrery") {
		t.Error("this module is of the standard library")
	}
}
