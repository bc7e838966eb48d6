package bench

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// table is rows of words in columns. The first row is the head. Columns are aligned to the right, but for as many as
// there are labels.
type table struct {
	labels int
	rows   [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// write writes the table, indented by two spaces.
func (t *table) write(w io.Writer) {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i < t.labels {
				line.WriteString("  " + cell + space)
			} else {
				line.WriteString("  " + space + cell)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// unknown stands for what was not measured.
const unknown = "–"

// number returns a number with commas between the thousands, and with two digits behind the point if it is small and
// not whole.
func number(value float64) string {
	if value < 100 && value != math.Trunc(value) {
		return strconv.FormatFloat(value, 'f', 2, 64)
	}
	digits := strconv.FormatFloat(value, 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// known returns a number, unless it is 0 because nobody knows it.
func known(value float64) string {
	if value == 0 {
		return unknown
	}
	return number(value)
}

// times returns how many times as much something is, unless nobody knows it.
func times(value float64) string {
	if value == 0 {
		return unknown
	}
	return number(value) + "×"
}

func count(n int) string { return number(float64(n)) }

// seconds returns a time.
func seconds(value float64) string {
	if value < 1 {
		return strconv.FormatFloat(1000*value, 'f', 0, 64) + " ms"
	}
	return strconv.FormatFloat(value, 'f', 2, 64) + " s"
}

// mebibytes returns an amount of memory, unless nobody knows it.
func mebibytes(bytes int64) string {
	if bytes == 0 {
		return unknown
	}
	return number(math.Round(float64(bytes)/(1<<20))) + " MiB"
}
