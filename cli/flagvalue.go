package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// flagValue is the value of a flag that is checked as soon as it is given. It
// implements pflag.Value.
type flagValue[T any] struct {
	to    *T
	parse func(string) (T, error)
	// text is the value as it was given, kind the word for it in the help.
	text, kind string
}

// Set implements pflag.Value.
func (f *flagValue[T]) Set(text string) error {
	value, err := f.parse(text)
	if err != nil {
		return err
	}
	*f.to, f.text = value, text
	return nil
}

// String implements pflag.Value.
func (f *flagValue[T]) String() string { return f.text }

// Type implements pflag.Value.
func (f *flagValue[T]) Type() string { return f.kind }

// oneOf takes one of several words.
func oneOf(words ...string) func(string) (string, error) {
	return func(text string) (string, error) {
		for _, word := range words {
			if text == word {
				return word, nil
			}
		}
		return "", fmt.Errorf("use %s", strings.Join(words, " or "))
	}
}

// natural takes a whole number that is not negative.
func natural(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, errors.New("use a whole number, 0 or more")
	}
	return n, nil
}

// period takes a duration that is not negative.
func period(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, errors.New("use a duration such as 90s or 1h30m")
	}
	return d, nil
}

// whole takes a whole number.
func whole(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, errors.New("use a whole number")
	}
	return n, nil
}

// memorySize takes a number of bytes with a unit: powers of 1024 such as Mi and
// MiB, or of 1000 such as M and MB. A number alone is nothing that anybody means.
func memorySize(text string) (int64, error) {
	number := strings.TrimRightFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	unit := strings.ToLower(strings.TrimSpace(text[len(number):]))
	value, err := strconv.ParseFloat(number, 64)
	scale, known := unitScale(unit)
	if bytes := value * scale; err == nil && known && (unit != "" && value >= 0 || value == 0) && bytes < math.MaxInt64 {
		return int64(bytes), nil
	}
	return 0, errors.New("use a size with its unit, such as 512MiB or 2GB")
}

// unitScale returns how many bytes a unit has.
func unitScale(unit string) (scale float64, known bool) {
	unit = strings.TrimSuffix(unit, "b")
	if unit == "" {
		return 1, true
	}
	base := 1000.0
	if prefix, binary := strings.CutSuffix(unit, "i"); binary {
		unit, base = prefix, 1024
	}
	power := strings.Index("kmgt", unit) + 1
	if len(unit) != 1 || power == 0 {
		return 0, false
	}
	return math.Pow(base, float64(power)), true
}
