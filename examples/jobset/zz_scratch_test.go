package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/orrery-dev/orrery"
)

func TestScratch(t *testing.T) {
	for _, o := range []orrery.Options{
		{},
		{Crashes: 1},
		{Stale: []string{"all=lag(1)"}},
		{Stale: []string{"all=own-writes(1)"}},
	} {
		e := Catalog()[0]
		values, err := e.Parse([]string{"jobs=1"})
		if err != nil {
			t.Log(err)
			values, _ = e.Parse(nil)
		}
		system, err := e.Build(values)
		if err != nil {
			t.Fatal(err)
		}
		o.MaxTime = 60 * time.Second
		r, err := orrery.Run(context.Background(), system, o)
		if err != nil {
			t.Error(err)
			continue
		}
		fmt.Println(e.Name, o.Granularity, o.Stale, o.Crashes, r.Report.Verdict, r.Report.States, r.Report.Transitions, r.Report.Behaviours, r.Report.Elapsed, r.Report.Reasons)
		for _, f := range r.Report.Findings {
			fmt.Println("   ", f.Property, f.Summary, f.Details)
		}
	}
}
