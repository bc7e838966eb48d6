package analysis_test

import (
	"errors"
	"testing"

	"github.com/orrery-dev/orrery/record/live/analysis"
)

var errEnough = errors.New("enough")

// BenchmarkMillion measures how long it takes until the first answer is there, with -recording FOLDER.
func BenchmarkMillion(b *testing.B) {
	files := kept(b)
	for name, ask := range map[string]func() error{
		"why": func() error {
			_, _, err := analysis.Why(files, "widget/team-7/widget-4567.spec.size")
			return err
		},
		"show": func() error {
			_, err := analysis.Show(files, analysis.Filter{Object: "widget/team-7/widget-4567"}, func(analysis.Shown) error { return errEnough })
			return err
		},
		"stale": func() error {
			_, err := analysis.Stale(files, func(analysis.StaleRead) error { return errEnough })
			return err
		},
		"all stale": func() error {
			_, err := analysis.Stale(files, func(analysis.StaleRead) error { return nil })
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				if err := ask(); err != nil && !errors.Is(err, errEnough) {
					b.Fatal(err)
				}
			}
		})
	}
}
