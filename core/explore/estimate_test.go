package explore

import (
	"math"
	"testing"
	"time"
)

// shapes are the widths of the levels of state spaces that are known.
var shapes = map[string][]int{
	"ten counters to 2":        {1, 10, 55, 210, 615, 1452, 2850, 4740, 6765, 8350, 8953, 8350, 6765, 4740, 2850, 1452, 615, 210, 55, 10, 1},
	"two-phase commit of 6":    {1, 13, 78, 292, 781, 1632, 2856, 4391, 6039, 7372, 7846, 7164, 5545, 3600, 1938, 855, 306, 87, 18, 2},
	"paxos":                    {1, 2, 5, 11, 26, 58, 135, 286, 528, 867, 1311, 1871, 2425, 2703, 2533, 1952, 1188, 546, 178, 38, 4},
	"eight philosophers":       {1, 8, 36, 104, 210, 296, 284, 168, 47},
	"increment of 5":           {1, 5, 15, 50, 155, 401, 900, 1680, 2355, 2170, 906},
	"increment with lock, 6":   {1, 6, 6, 6, 6, 30, 30, 30, 30, 120, 120, 120, 120, 360, 360, 360, 360, 720, 720, 720, 720, 720, 720, 720, 720},
	"a counter without end":    {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
	"a tree that always forks": {1, 2, 4, 8, 16, 32, 64, 128, 256, 512},
}

// TestEstimateOnKnownShapes looks ahead from each level of state spaces that are known. While the levels grow it must
// not see an end, and once they shrink what it expects must not be wrong by more than a factor of two.
func TestEstimateOnKnownShapes(t *testing.T) {
	for name, widths := range shapes {
		rest := 0
		for _, width := range widths {
			rest += width
		}
		var seen levels
		for depth, width := range widths {
			for range width {
				seen.add(uint32(depth))
			}
			rest -= width
			o := seen.estimate(uint32(depth))
			if depth+1 < trendLevels {
				if o != (Estimate{}) || o.String() != "" {
					t.Errorf("%s: %d levels tell %+v", name, depth+1, o)
				}
				continue
			}
			if grows := widths[depth] >= widths[depth-2]; grows && o.Ends {
				t.Errorf("%s: at level %d, an end is seen, and the levels grow", name, depth)
			}
			if half := 2*widths[depth] <= widths[depth-trendLevels+1]; half && !o.Ends {
				t.Errorf("%s: at level %d, no end is seen, and the levels are half as wide as before", name, depth)
			}
			if o.Ends && rest > 10 && (o.More < float64(rest)/2 || o.More > float64(rest)*2) {
				t.Errorf("%s: at level %d, %.0f more are expected, and there are %d", name, depth, o.More, rest)
			}
			if !o.Ends && depth+1 < len(widths) && (o.More < float64(widths[depth+1])/5 || o.More > float64(widths[depth+1])*5) {
				t.Errorf("%s: at level %d, %.0f more are expected in the next, and there are %d", name, depth, o.More, widths[depth+1])
			}
		}
	}
}

// TestEstimateOfFewLevels estimates by hand. Growth is the lesser of that over the last four levels and over the last
// two.
func TestEstimateOfFewLevels(t *testing.T) {
	for _, test := range []struct {
		widths       []int
		whole        uint32
		growth, more float64
	}{
		{[]int{100, 100, 100, 100, 1600}, 4, 2, 3200},         // 16 times in four levels
		{[]int{50, 400, 400, 400, 1600}, 4, 2, 3200},          // four times in two, and 32 times in four
		{[]int{7, 100, 100, 100, 100, 1600, 200}, 5, 2, 3000}, // of which 200 are known
		{[]int{100, 100, 100, 100, 100}, 4, 1, 100},
		{[]int{100, 100, 100, 100, 1600}, 3, 0, 0},
		{[]int{100, 100, 100, 100, 1600}, 5, 0, 0},
		{[]int{100, 100, 100, 100, 100, 700}, 4, 1, 0}, // more are known than were expected
	} {
		got := (&levels{widths: test.widths}).estimate(test.whole)
		if math.Abs(got.Growth-test.growth) > 1e-9 || math.Abs(got.More-test.more) > 1e-6 || got.Ends {
			t.Errorf("%+v: got %+v", test, got)
		}
	}
}

func TestEstimateInWords(t *testing.T) {
	for _, test := range []struct {
		estimate    Estimate
		want, short string
	}{
		{Estimate{}, "", ""},
		{Estimate{Growth: 1.8}, "no estimate: levels are still growing, each by a factor of more than 1.8", "growing ×1.8 per level"},
		{Estimate{Growth: 1.8, More: 1_234_567}, "no estimate: levels are still growing, each by a factor of about 1.8; the next level alone adds about 1.2 million states", "growing ×1.8 per level"},
		{Estimate{Growth: 1, More: 1}, "no estimate: levels are not shrinking yet", "growing ×1 per level"},
		{Estimate{Growth: 0.5, Ends: true, More: 9_960}, "estimate from the last levels: about 10000 more states", "about 10000 more expected"},
		{Estimate{Growth: 0.5, Ends: true, More: 3.1e9}, "estimate from the last levels: about 3.1 billion more states", "about 3.1 billion more expected"},
		{Estimate{Growth: 0.5, Ends: true, More: 0.2}, "estimate from the last levels: almost no more states", "about 1 more expected"},
	} {
		if got := test.estimate.String(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
		if got := test.estimate.Short(); got != test.short {
			t.Errorf("in short: %q, want %q", got, test.short)
		}
	}
}

// TestRoughly has numbers be told with two digits, and large ones in words.
func TestRoughly(t *testing.T) {
	for n, want := range map[float64]string{
		0: "0", 0.2: "1", 99.2: "100", 99: "99", 100: "100", 104: "100", 106: "110", 12_340: "12000", 999_999: "1 million", 1e6: "1 million", 1.26e6: "1.3 million",
		1e9: "1 billion", 4.44e9: "4.4 billion", 1e12: "1 trillion", 7.77e14: "780 trillion",
	} {
		if got := roughly(n); got != want {
			t.Errorf("%f is about %s, want %s", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		1234567 * time.Nanosecond: "1ms", 9999600 * time.Microsecond: "10s", 9*time.Second + 123456*time.Microsecond: "9.123s", 10*time.Second + 123*time.Millisecond: "10.1s", time.Minute: "1m0s",
	} {
		if got := rounded(d).String(); got != want {
			t.Errorf("a limit of %s is said to be %s, want %s", d, got, want)
		}
	}
}
