package story

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Count returns a number with commas between the thousands.
func Count(n int) string {
	digits := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var groups []string
	for len(digits) > 3 {
		groups = append([]string{digits[len(digits)-3:]}, groups...)
		digits = digits[:len(digits)-3]
	}
	return sign + strings.Join(append([]string{digits}, groups...), ",")
}

// Counted returns a number of things, "1 step" or "2 steps".
func Counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

// Duration returns a time as a person would say it.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// size returns a number of bytes in mebibytes.
func size(bytes int64) string {
	return Count(int(bytes>>20)) + " MiB"
}
