// Package jsontreetest draws random trees of JSON values for tests.
package jsontreetest

import "pgregory.net/rapid"

// Generator draws trees of JSON values, and of others, with all that is hard to write
// in them.
func Generator(others ...any) *rapid.Generator[any] {
	text := rapid.OneOf(rapid.StringOf(rapid.Rune()), rapid.SampledFrom([]string{"", "a", "b", "<&>", "\"\\", "\u2028", "\ufffd", "\x7f", "\x00", "~ "}))
	scalar := rapid.OneOf(
		rapid.SampledFrom(append(others, nil)),
		rapid.Just[any](map[string]any(nil)),
		rapid.Just[any]([]any(nil)),
		rapid.Just[any](map[string]string{"b": "1", "a": "2"}),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.Int64(), func(n int64) any { return n }),
		rapid.Map(rapid.Int64Range(-2, 2), func(n int64) any { return float64(n) }),
		rapid.Map(rapid.Float64(), func(f float64) any { return f + 0 }), // -0 is read as a whole number
		rapid.Map(text, func(s string) any { return s }),
	)
	tree := scalar
	for range 3 {
		below := tree
		tree = rapid.OneOf(
			scalar,
			rapid.Map(rapid.MapOfN(text, below, 0, 4), func(m map[string]any) any { return m }),
			rapid.Map(rapid.SliceOfN(below, 0, 4), func(l []any) any { return l }),
		)
	}
	return tree
}
