package system

import (
	"fmt"
	"strings"
)

// ProcessName names a process after its controllers. A single one is a process of its own, which needs no name.
func ProcessName(controllers []string) string {
	const most = 3
	if len(controllers) < 2 {
		return ""
	}
	if more := len(controllers) - most; more > 1 {
		controllers = append(controllers[:most:most], fmt.Sprintf("%d more", more))
	}
	return strings.Join(controllers, "+")
}
