package transition

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// What a run was given may have words in it that somebody has drawn. It copies them, makes others of them, such as a
// checksum of a password or a certificate that a drawn key has signed, or decides by them.

// derive finds out which words follow from words that a run was given, such as a checksum of a password: it goes
// through a new path again with answers in which others were drawn. Code that does more than to write other words
// decides by what was drawn, and that was only searched for what it was.
func (l *Learner) derive(a *Actor, run behavior.Run, drawn core.Drawn) (decides bool, err error) {
	whole := run.Activation.Since == nil && !l.namesWords(run.Activation)
	calls := len(drawn.Texts) - len(a.domain.keptIn(run.Leaf))
	runs, asked := []core.Drawn{{Texts: append(slices.Clone(drawn.Texts[:calls]), enqueued(run.Leaf.Requests)...), Words: drawn.Words}}, [][]core.Call{nil}
	enqueues := [][]core.Request{run.Leaf.Requests}
	for variation := 1; variation <= leastVaried; variation++ {
		_, others := run.Path.Answered(func(r core.Response) core.Response {
			other, known := l.limits.Randomness.Other(r, variation)
			whole = whole && known
			return other
		})
		if !others {
			return false, nil
		}
		varied := run
		varied.Activation.Variation = variation
		made, requests, other, divergence, err := l.exchange(a, varied, variation)
		if err != nil || divergence != nil {
			return l.decidesByWords(a, run, divergence, whole), err
		}
		requests, known := l.aligned(requests, run.Leaf.Requests, variation)
		whole = whole && known
		other.Texts = append(other.Texts[:calls:calls], enqueued(requests)...)
		runs, asked, enqueues = append(runs, other), append(asked, made), append(enqueues, requests)
	}
	odd, text := l.limits.Randomness.Compare(runs, true)
	switch {
	case text < 0 && l.exchanges(a) && run.Leaf.Drawn: // whatever a word is in another run, it need not follow from what that was given
		return false, nil
	case text < 0 && slices.ContainsFunc(runs[1:], func(other core.Drawn) bool { return !slices.Equal(other.Texts[:calls], drawn.Texts[:calls]) }):
		return false, l.attribute(a, run, drawn.Texts[:calls])
	case text < 0:
		return false, nil
	case text >= calls:
		recorded, observed := &behavior.Leaf{Requests: enqueues[0]}, &behavior.Leaf{Requests: enqueues[odd]}
		return l.decidesByWords(a, run, &behavior.Divergence{Recorded: recorded.String(), Observed: observed.String(), After: len(run.Path)}, whole), nil
	}
	return l.decidesByWords(a, run, run.Path.Parting(asked[odd], text), whole), nil
}

// exchange takes a fresh instance along a run that is given others of some texts, of all if none are named, as they
// would be in a variation. It returns what comes of it, and where it parts from the run.
func (l *Learner) exchange(a *Actor, run behavior.Run, variation int, only ...string) (calls []core.Call, requests []core.Request, drawn core.Drawn, divergence *behavior.Divergence, err error) {
	calls, drawn, divergence, err = l.taken(a, run, func(session *behavior.Session) (calls []core.Call, divergence *behavior.Divergence, err error) {
		calls, requests, divergence, err = session.VaryAnswers(l.Context, run, func(r core.Response) core.Response {
			other, _ := l.limits.Randomness.Other(r, variation, only...)
			return other
		})
		return calls, divergence, err
	})
	return calls, requests, drawn, divergence, err
}

// mostExchanged bounds how often answers of a run are exchanged to find out from which of them words follow: what is
// left then is taken as one.
const mostExchanged = 64

// attribute finds out from which of the texts that a run was given the words follow that it has made of them: who has
// the checksum of a password that is no longer there is not as who has that of the one which is. So the texts are
// exchanged in halves, down to single ones, but for those that only go together, such as a key and its certificate:
// with one of them exchanged, the code goes another way.
func (l *Learner) attribute(a *Actor, run behavior.Run, made []string) error {
	var given, together []string
	before := run.Path.Before(func(r core.Response) []string {
		texts := l.limits.Randomness.Texts(r)
		for _, text := range texts {
			if !slices.Contains(given, text) {
				given = append(given, text)
			}
		}
		return texts
	})
	exchanged := 0
	derived := func(some []string) (words []string, same bool, err error) {
		exchanged++
		_, _, other, divergence, err := l.exchange(a, run, 1, some...)
		if err != nil || divergence != nil {
			return nil, false, err
		}
		other.Texts = other.Texts[:len(made)]
		return l.limits.Randomness.Derived(core.Drawn{Texts: made}, other, before), true, nil
	}
	follow := map[string][]string{}
	from := func(words, texts []string) {
		for _, word := range words {
			follow[word] = append(follow[word], texts...)
		}
	}
	var part func(some []string) error
	part = func(some []string) error {
		if len(some) == 0 {
			return nil
		}
		words, same, err := derived(some)
		switch {
		case err != nil, same && len(words) == 0:
			return err
		case same && (len(some) == 1 || exchanged >= mostExchanged):
			from(words, some)
			return nil
		case len(some) == 1 || exchanged >= mostExchanged:
			together = append(together, some...)
			return nil
		}
		if err := part(some[:len(some)/2]); err != nil {
			return err
		}
		return part(some[len(some)/2:])
	}
	if err := part(given); err != nil {
		return err
	}
	if len(together) > 1 {
		words, _, err := derived(together)
		if err != nil {
			return err
		}
		from(slices.DeleteFunc(words, func(word string) bool { return follow[word] != nil }), together)
	}
	l.limits.Randomness.Follow(follow)
	return nil
}

// aligned returns what a run enqueues that was given other words in the order of the requests that were recorded: each
// in the place of the one that it would be, and those that stand for none of them in the places that are left. A queue
// knows no order, and hands requests out sorted by names that are others now. It reports whether it is known of all
// what they would be, which one request need not be.
func (l *Learner) aligned(observed, recorded []core.Request, variation int) (aligned []core.Request, known bool) {
	if len(observed) < 2 {
		return observed, true
	}
	rest := slices.Clone(observed)
	aligned, known = make([]core.Request, len(observed)), true
	var vacant []int
	for at, request := range recorded {
		other, knows := l.limits.Randomness.Renamed(string(request), variation)
		known = known && knows
		if found := slices.Index(rest, core.Request(other)); found >= 0 {
			aligned[at] = rest[found]
			rest = slices.Delete(rest, found, found+1)
		} else {
			vacant = append(vacant, at)
		}
	}
	for i, at := range vacant {
		aligned[at] = rest[i]
	}
	return aligned, known
}

// namesWords reports whether words that were drawn stand in what a run is about. Only answers are exchanged for others,
// and what they say may have to match that: the children of an object whose name was made up are those with a label of
// that name.
func (l *Learner) namesWords(a behavior.Activation) bool {
	if a.Event == nil {
		return l.limits.Randomness.Has(string(a.Request))
	}
	return l.limits.Randomness.Has(a.Event.Key.String()) || slices.ContainsFunc([]core.Content{a.Event.Old, a.Event.New}, func(c core.Content) bool {
		return c != nil && l.limits.Randomness.Has(c.Canonical())
	})
}

// decidesByWords reports whether what a run does depends on what it was given that somebody has drawn, and notes it.
// Nobody can tell if not all of that was other.
func (l *Learner) decidesByWords(a *Actor, run behavior.Run, d *behavior.Divergence, whole bool) bool {
	if d == nil || !whole {
		return false
	}
	a.gambles = true
	l.Machine.doubtFirst(a.Name+" decides by random values", "that it reads, %s, now: %s; where others were drawn: %s. Only what comes of those that were drawn was searched: let it decide by what is not random",
		run.Activation, d.Recorded, d.Observed)
	return true
}

// enqueued are requests as texts that are compared with others.
func enqueued(requests []core.Request) []string {
	texts := make([]string, len(requests))
	for i, request := range requests {
		texts[i] = string(request)
	}
	return texts
}
