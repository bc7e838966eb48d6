package properties

import (
	"math"
	"strconv"
	"strings"
)

// quantity returns an amount in the notation of Kubernetes, "500m" or "10Gi", as a number, and false if it is none.
func quantity(text string) (float64, bool) {
	digits := strings.TrimRight(text, "numkKMGTPEi")
	if strings.Trim(digits, "+-.0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(digits, 64)
	unit, known := unitOf(text[len(digits):])
	return n * unit, err == nil && known
}

// unitOf returns what the suffix of a quantity stands for.
func unitOf(suffix string) (float64, bool) {
	const decimal, binary = 1000.0, 1024.0
	for power, name := range []string{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"} {
		if suffix == name {
			return math.Pow(decimal, float64(power-3)), true
		}
	}
	for power, name := range []string{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"} {
		if suffix == name {
			return math.Pow(binary, float64(power+1)), true
		}
	}
	return 0, false
}
