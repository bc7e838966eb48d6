package resident

import (
	"bufio"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// Peak returns the most memory that the process has ever had resident, in
// bytes, and 0 on systems that do not tell.
func Peak() int64 {
	file, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 3 && fields[0] == "VmHWM:" && fields[2] == "kB" {
			kibibytes, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0
			}
			return kibibytes << 10
		}
	}
	return 0
}

// Economize has the collector of garbage run more often than it does by itself, until the function that it returns is
// called. Who wants a search to take little memory does not want the process to hold as much again in garbage.
func Economize() func() {
	const percent = 20
	before := debug.SetGCPercent(percent)
	return func() { debug.SetGCPercent(before) }
}
