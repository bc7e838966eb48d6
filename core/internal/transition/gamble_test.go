package transition

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/memo"
)

// casino are dice of which it is known what answers would be if other values had been drawn: each digit is a larger
// one.
type casino struct {
	*dice
	// knows tells that it is known of all answers, and has is a regular expression for the texts in which there are
	// words, empty if there are none.
	knows bool
	has   string
	// follow says which words follow from which.
	follow []string
}

var sixDigits = regexp.MustCompile(`[0-9]{6}`)

func (c *casino) Other(answer core.Response, variation int, only ...string) (core.Response, bool) {
	if len(only) > 0 && !slices.Contains(only, answer.String()) {
		return answer, true
	}
	other, knows := c.Renamed(answer.String(), variation)
	return reply(other), knows
}

func (c *casino) Texts(answer core.Response) []string {
	if sixDigits.MatchString(answer.String()) {
		return []string{answer.String()}
	}
	return nil
}

func (c *casino) Derived(run, varied core.Drawn, given [][]string) []string {
	var words []string
	for i, text := range run.Texts {
		others := sixDigits.FindAllString(varied.Texts[i], -1)
		for at, word := range sixDigits.FindAllString(text, -1) {
			if others[at] != word && !slices.Contains(given[i], word) && !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	return words
}

func (c *casino) Follow(words map[string][]string) {
	for word, texts := range words {
		c.follow = append(c.follow, word+" from "+strings.Join(texts, ", "))
	}
	slices.Sort(c.follow)
	c.follow = slices.Compact(c.follow)
}

func (*casino) Echo(answer core.Response, _, _ []string) core.Response { return answer }

func (c *casino) Renamed(text string, variation int) (string, bool) {
	return sixDigits.ReplaceAllStringFunc(text, func(word string) string {
		return strings.Map(func(digit rune) rune { return '0' + (digit-'0'+rune(variation))%10 }, word)
	}), c.knows
}

func (c *casino) Has(text string) bool {
	return c.has != "" && regexp.MustCompile(c.has).MatchString(text)
}

// Compare has any other six digits be a word.
func (c *casino) Compare(runs []core.Drawn, _ bool) (run, text int) {
	for text := range runs[0].Texts {
		for run := range runs {
			if len(runs[run].Texts) <= text || sixDigits.ReplaceAllString(runs[run].Texts[text], "") != sixDigits.ReplaceAllString(runs[0].Texts[text], "") {
				return run, text
			}
		}
	}
	return 0, -1
}

// TestWordsThatDecide has a controller read a word that another one has drawn. That it copies it is nothing to speak
// of. That it does something else depending on it is a reason, in each search, if all that it was given is known to be
// other.
func TestWordsThatDecide(t *testing.T) {
	copies := func(w world, text string) {
		if text != "" {
			w.put("copy", text)
		}
	}
	decides := func(w world, text string) {
		if text == "" {
			return
		}
		if n, err := strconv.Atoi(text); err == nil && n%2 == 0 {
			w.put("even", "yes")
		} else {
			w.put("odd", "yes")
		}
	}
	stops := func(w world, text string) {
		if n, err := strconv.Atoi(text); err == nil && n%2 == 0 {
			w.put("even", "yes")
		}
	}
	const doubt = "b decides by random values that it reads, "
	for _, test := range []struct {
		name  string
		does  func(w world, text string)
		keeps bool
		blind bool
		has   string
		says  string
	}{
		{"it copies", copies, false, false, "", ""},
		{"it decides what to write", decides, false, false, "", doubt},
		{"it decides whether to write", stops, false, false, "", doubt},
		{"nobody knows all that it reads", decides, false, true, "", ""},
		{"nobody knows what it reads, and it ends there", stops, false, true, "", ""},
		{"it is asked for something with a word", decides, false, false, "go", ""},
		{"it remembers something", decides, true, false, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			source := &casino{dice: &dice{}, knows: !test.blind, has: test.has}
			a := simple("a", func(w world, _ core.Request) core.Result {
				if w.get("word") == "" {
					w.create("word", source.draw())
				}
				return core.Result{}
			})
			b := controller("b", func() core.Instance {
				n := 0
				h := hand{reconcile: func(w world, _ core.Request) core.Result {
					if test.keeps && n == 0 {
						n = 1
						return core.Result{Requeue: true}
					}
					test.does(w, w.get("word"))
					return core.Result{}
				}}
				if !test.keeps {
					return h
				}
				return mind{h, func() map[string]string { return map[string]string{"R.n": strconv.Itoa(n)} }}
			})
			b.Watches = []core.Kind{"note"}
			system := lab([]core.Strategy{sequential(a), sequential(b)})
			system.Randomness = source
			f := explored(t, system, Conditions{})
			if got := f.learner.Machine.Drawing(); len(got) != 1 || got[0] != "a" || len(f.learner.Incidents) > 0 {
				t.Errorf("these draw: %v, and this is wrong: %+v", got, f.learner.Incidents)
			}
			memo := memo.New()
			for search := range 2 { // the second one remembers what the first one found out
				l, err := NewLearner(t.Context(), system, f.conditions, behavior.Limits{Deadline: 10 * time.Second, Calls: 50}, 0)
				if err != nil {
					t.Fatal(err)
				}
				l.Seen, l.Searching, l.Memo = map[Wrong]bool{}, true, memo
				again := found{learner: l}
				if err := again.wander(NewWalker(l.Machine, l)); err != nil {
					t.Fatal(err)
				}
				said := strings.Join(l.Machine.Doubts, "\n")
				if gambling := l.Machine.Gambling(); len(gambling) > 0 != (test.says != "") || len(gambling) > 0 && gambling[0] != "b" {
					t.Errorf("search %d has %v decide by random values", search, gambling)
				}
				if test.says == "" && said != "" || !strings.Contains(said, test.says) {
					t.Errorf("search %d says %q, want %q", search, said, test.says)
				}
			}
		})
	}
}

// TestWordsThatFollow has a controller read several words that another one has drawn, and write words of its own: each
// follows from those that it is made of, and from no other. Words of which the controller wants that they belong
// together are taken together.
func TestWordsThatFollow(t *testing.T) {
	backwards := func(word string) string {
		letters := []byte(word)
		slices.Reverse(letters)
		return string(letters)
	}
	for _, test := range []struct {
		name string
		does func(w world, a, b, c, d string)
		// want are what words are made of, each by what it begins with: by the numbers of the texts.
		want []string
	}{
		{"nothing", func(w world, a, _, _, d string) { w.put("copy", a+" and "+d) }, nil},
		{"one", func(w world, _, _, c, _ string) { w.put("one", "1"+c[1:5]+"0") }, []string{"1 from 2"}},
		{"two", func(w world, a, _, _, d string) {
			w.put("one", "1"+a[1:5]+"0")
			w.put("two", "2"+d[1:5]+"0")
		}, []string{"1 from 0", "2 from 3"}},
		{"of two", func(w world, _, b, c, _ string) { w.put("one", "1"+b[1:3]+c[1:3]+"0") }, []string{"1 from 1, 2"}},
		{"where two belong together", func(w world, a, b, _, d string) {
			if b == backwards(a) {
				w.put("one", "1"+d[1:5]+"0")
				w.put("two", "2"+b[1:5]+"0")
			}
		}, []string{"1 from 3", "2 from 0, 1"}},
		{"what it has written itself", func(w world, a, _, _, _ string) {
			w.put("one", "1"+a[1:5]+"0")
			w.put("two", w.get("one"))
		}, []string{"1 from 0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			source := &casino{dice: &dice{}, knows: true}
			var first sync.Once
			var drawn []string
			a := simple("a", func(w world, _ core.Request) core.Result {
				if w.get("a") == "" {
					word := source.draw()
					w.create("b", backwards(word))
					w.create("c", word[3:]+word[:3])
					w.create("d", word[2:]+word[:2])
					w.create("a", word)
				}
				return core.Result{}
			})
			b := simple("b", func(w world, _ core.Request) core.Result {
				if word := w.get("a"); word != "" {
					texts := []string{word, w.get("b"), w.get("c"), w.get("d")}
					first.Do(func() { drawn = texts })
					test.does(w, texts[0], texts[1], texts[2], texts[3])
				}
				return core.Result{}
			})
			b.Watches = []core.Kind{"note"}
			system := lab([]core.Strategy{sequential(a), sequential(b)})
			system.Randomness = source
			f := explored(t, system, Conditions{})
			if len(f.learner.Incidents) > 0 || len(f.learner.Machine.Doubts) > 0 {
				t.Fatalf("%+v; %q", f.learner.Incidents, f.learner.Machine.Doubts)
			}
			var got []string
			for _, follows := range source.follow {
				word, from, _ := strings.Cut(follows, " from ")
				for i, text := range drawn {
					from = strings.ReplaceAll(from, text, strconv.Itoa(i))
				}
				got = append(got, word[:1]+" from "+from)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestWordsThatAreEnqueued has an event handler read a word that another controller has drawn. That it enqueues a
// request of that name is nothing to speak of. That it enqueues another one depending on the word, or not as many, is a
// reason, unless the requests just come in another order, which is that of words, or unless the word stands in the
// event, too: then it no longer matches what else is read, as a label of a child does the name of its parent.
func TestWordsThatAreEnqueued(t *testing.T) {
	odd := func(word string) bool { return (word[len(word)-1]-'0')%2 == 1 }
	ifOdd := func(word string, _ core.Event) []core.Request {
		if odd(word) {
			return []core.Request{"odd"}
		}
		return nil
	}
	sorted := func(requests ...core.Request) []core.Request {
		slices.Sort(requests)
		return requests
	}
	for name, test := range map[string]struct {
		of       string
		enqueues func(word string, e core.Event) []core.Request
		says     string
	}{
		"named by the word": {"bell", func(word string, _ core.Event) []core.Request { return []core.Request{core.Request("for " + word)} }, ""},
		"by what the word is": {"bell", func(word string, e core.Event) []core.Request {
			return append(ifOdd(word, e), "even")[:1]
		}, `: enqueues [odd]`},
		"if the word is odd": {"bell", ifOdd, `: enqueues [odd]`},
		"in the order of words": {"bell", func(word string, _ core.Event) []core.Request {
			return sorted(core.Request(word+"/a"), core.Request(word[3:]+word[:3]+"/b"), core.Request(word[4:]+word[:4]+"/c"), "5000/d")
		}, ""},
		"in the order of words, and one more if the word is odd": {"bell", func(word string, e core.Event) []core.Request {
			return append(sorted(core.Request(word+"/a"), core.Request(word[3:]+word[:3]+"/b")), append(ifOdd(word, e), "even")[0])
		}, `even]`},
		"if the word is that of the event": {"word", func(word string, e core.Event) []core.Request {
			if e.New != nil && strings.Contains(e.New.Canonical(), word) {
				return []core.Request{core.Request("for " + word)}
			}
			return nil
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			source := &casino{dice: &dice{}, knows: true, has: sixDigits.String()}
			a := simple("a", func(w world, _ core.Request) core.Result {
				if w.get("word") == "" {
					w.create("word", source.draw())
					w.create("bell", "rings")
				}
				return core.Result{}
			})
			b := controller("b", func() core.Instance {
				return hand{
					reconcile: func(world, core.Request) core.Result { return core.Result{} },
					handle: func(w world, e core.Event) []core.Request {
						if e.Key.Name != test.of {
							return nil
						}
						return test.enqueues(w.get("word"), e)
					},
				}
			})
			b.Watches = []core.Kind{"note"}
			system := lab([]core.Strategy{sequential(a), sequential(b)})
			system.Randomness = source
			f := explored(t, system, Conditions{})
			if incidents := f.learner.Incidents; len(incidents) > 0 {
				t.Errorf("this is wrong: %+v", incidents)
			}
			said := strings.Join(f.learner.Machine.Doubts, "\n")
			if test.says == "" && said != "" || !strings.Contains(said, test.says) {
				t.Errorf("it says %q, want %q", said, test.says)
			}
		})
	}
}

// TestAnswered has a path be given other answers, and say whether there are any.
func TestAnswered(t *testing.T) {
	first := &behavior.Node{Call: errand{verb: "get", name: "a"}}
	edge := first.Respond(reply("abc"))
	edge.To.Call = errand{verb: "put", name: "b", text: "abc"}
	path := behavior.Path{edge, edge.To.Respond(reply("done"))}
	upper := func(r core.Response) core.Response { return reply(strings.Replace(r.String(), "abc", "xyz", 1)) }
	other, others := path.Answered(upper)
	if !others || other[0].Response.String() != "xyz" || other[0].From != first || other[1] != path[1] || path[0].Response.String() != "abc" {
		t.Errorf("it is given %v", other)
	}
	if same, others := path[1:].Answered(upper); others || same[0] != path[1] {
		t.Error("other answers are given where there are none")
	}
}
