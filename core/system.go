package core

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// System is everything that is checked together: controllers, the world they act
// on, the states it may start in, and what should be true of it.
type System struct {
	// Name is what reports and commands call the system.
	Name string

	Store      Store
	Strategies []Strategy

	// Initial are the possible states of the store at start, at least one.
	Initial []Initial

	// Scenario is what users may do meanwhile.
	Scenario Scenario

	// Implied are scenarios that nobody asked for and that users may be expected to play: a check under several
	// conditions may try each of them.
	Implied []Scenario

	// Deletion returns the action of somebody who deletes an object wherever it is there. A check under several
	// conditions may let it befall what controllers have made. Nil if nobody deletes objects but controllers.
	Deletion func(Key) Action

	// Changes are what somebody may change of the objects that are there at first, each by itself. A check under several
	// conditions may let one of them happen once all has settled.
	Changes []Action

	// Surroundings names strategies that stand in for what is around the controllers. They are not what is checked:
	// nobody need let them fail.
	Surroundings []string

	// Kinds are kinds of objects that controllers may turn out to read through their caches, besides those that
	// they watch and those that they declare: conditions may name them. Empty means that controllers declare them all.
	Kinds []Kind

	// Interchangeable are groups of names of which it does not matter which is which: exchanged for each other
	// everywhere, in the names of objects, requests, controllers and actions and in all contents, they leave the system
	// the same. A name is found where no letter or digit is next to it, so "a" is also in "a-0". A search by symmetry
	// visits one of the states that differ in nothing else, after it has checked that controllers treat the names
	// alike.
	Interchangeable [][]string

	// Properties are what the system's author wants checked.
	Properties []Property

	// IgnoredMemory names parts of what controllers keep in memory that make no difference to what they do, such as
	// "Reconciler.metrics", see [Introspective], with all that can be reached from them. It is said in the report.
	IgnoredMemory []string

	// Randomness sets the random values that controllers draw, nil if nobody can. Values that it does not set are left
	// to chance, which is found out.
	Randomness Randomness

	// Libraries are packages through which controllers make their calls, as patterns of the go command, such as
	// "k8s.io/client-go/...": a trace says where in other code a call comes from.
	Libraries []string

	// Assumptions are sentences for the report: what the model takes for
	// granted besides what the engine says itself.
	Assumptions []string

	// Unmodelled are sentences about what belongs to the system and is not modelled, although what is found may depend
	// on it: each is a reason why a check is not conclusive, and says what to do about it.
	Unmodelled []string
}

// Randomness sets the random values that code draws, as far as their source can be set. A run that draws some is then a
// function of a seed as well, and the search chooses seeds so that what a run has put into the world is never drawn
// again.
//
// It is for words: names, passwords, keys. That anything else which is drawn makes a difference is found out by runs
// that draw other values, and is left to chance.
type Randomness interface {
	// Set lets the values that are drawn from now on follow from a seed, and from how often the run was set to that
	// seed before without drawing anything. Nobody else can set them until that is over: another call waits.
	Set(seed uint64, before int) Draw

	// Release lets the values be drawn again that nobody knows. Between the end of a draw and the next one, they may
	// follow from a seed as well.
	Release()

	// Compare compares runs of the same code that were given the same answers and drew different values. It returns the
	// first text in which a run differs from the first one in more than words that were drawn, and which run that is; a
	// text of -1 if there is none. A store that compares outcomes may record the words. There are at least two runs, of
	// variations 0 and on, and all have as many texts. Given tells that they were given other answers as well, as Other
	// has them: what they say instead is what others will be given then, and not what was found without.
	Compare(runs []Drawn, given bool) (run, text int)

	// Echo returns an answer as a run is given it that has said other things than the recorded one which was given it,
	// as it drew other values: what that one said comes back as this one said it. The texts are those of [Drawn], and
	// as many of the one as of the other.
	Echo(answer Response, recorded, observed []string) Response

	// Other returns an answer as it would be if other values had been drawn for it, of some variation: those of the
	// runs with this number that were compared. If it would be no other, it is the answer. Whole is false if there are
	// words in the answer of which nobody knows what they would be. Only the given ones of its texts are others, all of
	// them if none are given.
	Other(answer Response, variation int, only ...string) (other Response, whole bool)

	// Texts returns the texts of an answer that would be others if other values had been drawn for it.
	Texts(answer Response) []string

	// Derived compares a run with one that drew the same, but was given others of some texts, and returns the words that
	// are others there and stand in none of the texts which it was given before it wrote them, for each of its own: they
	// follow from those in the exchanged ones, such as a checksum from a password.
	Derived(run, varied Drawn, given [][]string) []string

	// Exchanged reports whether a run has said the same as another one that drew the same values, but for words that it
	// has put to use in another order, as if it took out of a map what they are for. The words are known, and stand in
	// none of the texts that the run was given before it said them.
	Exchanged(run, other Drawn, given [][]string) bool

	// Follow has the store that compares outcomes record from which of the texts that a run was given words follow.
	Follow(words map[string][]string)

	// Renamed returns a text that names something, such as a request, as it would be if other values had been drawn, as
	// Other has them. It is the text, and not known, if there are words in it of which nobody knows what they would be.
	Renamed(text string, variation int) (other string, known bool)

	// Has reports whether words that are known to have been drawn stand in a text.
	Has(text string) bool
}

// Drawn is what a run comes to that draws values.
type Drawn struct {
	// Texts are what it writes and keeps, in order.
	Texts []string
	// Words are what [Draw.Words] finds in them.
	Words []string
}

// Draw is a while in which random values follow from a seed.
type Draw interface {
	// End ends it, and reports whether any value was drawn. It is called once.
	End() bool

	// Words returns the words in some texts of which it is known for certain that they were drawn, in the order in
	// which they were drawn: names that somebody made up. It is called after the end. A store that compares outcomes
	// may record them.
	Words(texts []string) []string
}

// Initial is one state of the store at start.
type Initial struct {
	Objects []Object
	// Underway is what controllers are doing there if they have been at work before. Nil means that all of them start.
	Underway *Underway
}

// Validate returns an error that says what to change if the system cannot be
// checked: no strategy, no initial state, two strategies or properties of one
// name, an object given twice.
func (s *System) Validate() error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }

	if s.Name == "" {
		fail("the system has no name: set System.Name")
	}
	if s.Store == nil {
		fail("the system has no store: set System.Store")
	}
	if len(s.Strategies) == 0 {
		fail("the system has no controllers, so there is nothing to run: add at least one strategy")
	}
	names, processes := map[string]bool{}, map[string]bool{}
	for i, strategy := range s.Strategies {
		if strategy == nil {
			fail("strategy number %d is nil", i+1)
			continue
		}
		d := strategy.Describe()
		if d.Name == "" {
			fail("strategy number %d has no name", i+1)
		}
		if names[d.Name] {
			fail("two controllers are called %q: give each its own name", d.Name)
		}
		if d.Name == User && len(s.Scenario.Actions) > 0 {
			fail("a controller is called %q, as the actions of the scenario are: give it another name", User)
		}
		names[d.Name] = true
		if d.Process != "" {
			processes[d.Process] = true
			if d.Messages || len(d.Standing) > 0 {
				fail("%q has messages or guarded actions, and cannot share the process %q with controllers: leave Description.Process empty", d.Name, d.Process)
			}
		}
		if !d.begins() && !slices.ContainsFunc(s.Strategies, d.sharesWithOneThatBegins) {
			fail("controller %q watches nothing and has no requests to begin with, so it would never run: register a watch or an initial request", d.Name)
		}
	}
	for _, process := range slices.Sorted(maps.Keys(processes)) {
		if names[process] {
			fail("a process and a controller are called %q: give the process another name", process)
		}
	}
	if len(s.Initial) == 0 {
		fail("the system has no initial state: add one, even if it is empty")
	}
	for i, initial := range s.Initial {
		seen := map[Key]bool{}
		for _, object := range initial.Objects {
			if object.Content == nil {
				fail("object %s of initial state %d has no content", object.Key, i+1)
			}
			if seen[object.Key] {
				fail("object %s is given twice in initial state %d: remove one", object.Key, i+1)
			}
			seen[object.Key] = true
		}
		if initial.Underway != nil {
			initial.Underway.validate(s.Strategies, initial.Objects, fail)
		}
	}
	errs = append(errs, validateNames(s.Interchangeable)...)
	if s.Scenario.Alternatives && s.Scenario.InOrder {
		fail("the actions of the scenario are alternatives and come one after the other: set one of Scenario.Alternatives and Scenario.InOrder")
	}
	actions := map[string]bool{}
	for i, action := range s.Scenario.Actions {
		switch {
		case action.Name == "":
			fail("action number %d of the scenario has no name", i+1)
		case action.Do == nil:
			fail("action %q of the scenario does nothing: set Action.Do", action.Name)
		case s.Scenario.Alternatives && !action.Settled:
			fail("action %q of the scenario is one of several alternatives, and is taken at any moment: set Action.Settled", action.Name)
		case actions[action.Name]:
			fail("two actions of the scenario are called %q: give each its own name", action.Name)
		}
		actions[action.Name] = true
	}
	properties := map[string]bool{}
	for _, p := range s.Properties {
		if err := p.Validate(); err != nil {
			errs = append(errs, err)
		}
		if properties[p.Name] {
			fail("two properties are called %q: give each its own name", p.Name)
		}
		properties[p.Name] = true
	}
	return errors.Join(errs...)
}

// Underway says what controllers were doing in a state in which others have been at work before: what a start does not
// tell, but the state of a running system does.
//
// Of what controllers keep in memory it says nothing. A process that turns out to depend on its memory is started there
// instead, and that is a reason why the search is not conclusive.
type Underway struct {
	// Processes are those that are at work already: they are not told of the objects that are there. All others start.
	Processes []AtWork
}

// AtWork is a process that is at work.
type AtWork struct {
	// Process is its name, see [Description.ProcessName].
	Process string
	// Queued are the items in its work queues, and Timed those that wait for a timer.
	Queued, Timed []Item
	// Behind are the changes that its caches have not received, in the order of their commits. They are of kinds that
	// it has views of.
	Behind []Missing
}

// Missing is a committed change that a cache has not received: From is nil if the object was created, and To if it was
// deleted.
type Missing struct {
	Key      Key
	From, To Content
}

// BehindIn returns how many changes of a kind the cache of a process has not received in some initial state, the most
// of all.
func (s *System) BehindIn(process string, kind Kind) int {
	most := 0
	for _, initial := range s.Initial {
		if initial.Underway == nil {
			continue
		}
		for _, p := range initial.Underway.Processes {
			if p.Process == process {
				most = max(most, p.behind(kind))
			}
		}
	}
	return most
}

// behind returns how many changes of a kind the process has not received.
func (p *AtWork) behind(kind Kind) int {
	n := 0
	for _, change := range p.Behind {
		if change.Key.Kind == kind {
			n++
		}
	}
	return n
}

// validate calls fail for what cannot be so in a system that has these strategies and is in a state with these objects.
func (u *Underway) validate(strategies []Strategy, objects []Object, fail func(string, ...any)) {
	processes, of := map[string]bool{}, map[string]string{}
	for _, strategy := range strategies {
		if strategy == nil {
			continue
		}
		d := strategy.Describe()
		processes[d.ProcessName()], of[d.Name] = true, d.ProcessName()
	}
	named := map[string]bool{}
	for _, p := range u.Processes {
		switch {
		case !processes[p.Process]:
			fail("there is no process %q that could be at work: give the name of a process of the system", p.Process)
		case named[p.Process]:
			fail("the process %q is at work twice: give each once", p.Process)
		}
		named[p.Process] = true
		for _, item := range slices.Concat(p.Queued, p.Timed) {
			if of[item.Strategy] != p.Process {
				fail("%s is in a queue of the process %q, which has no controller of that name", item, p.Process)
			}
		}
		p.validateChanges(objects, fail)
	}
}

// validateChanges calls fail unless the changes of each object follow each other up to what is there.
func (p *AtWork) validateChanges(objects []Object, fail func(string, ...any)) {
	next := map[Key]Content{}
	for _, o := range objects {
		next[o.Key] = o.Content
	}
	for _, change := range slices.Backward(p.Behind) {
		if !equal(change.To, next[change.Key]) {
			fail("the changes of %s that the caches of %q have not received do not lead to what is there: give all of them, in order", change.Key, p.Process)
			return
		}
		next[change.Key] = change.From
	}
}

func equal(a, b Content) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Canonical() == b.Canonical()
}

// String says in words what the process was doing.
func (p *AtWork) String() string {
	text := p.Process
	list := func(what string, items []Item) {
		for i, item := range items {
			if i == 0 {
				text += what
			} else {
				text += ", "
			}
			text += item.String()
		}
	}
	list(" has in its queue ", p.Queued)
	if len(p.Queued) == 0 {
		text += " has nothing in its queue"
	}
	list("; waits for a timer of ", p.Timed)
	var kinds []Kind
	for _, change := range p.Behind {
		if !slices.Contains(kinds, change.Key.Kind) {
			kinds = append(kinds, change.Key.Kind)
		}
	}
	for _, kind := range kinds {
		n := p.behind(kind)
		changes := "changes"
		if n == 1 {
			changes = "change"
		}
		text += fmt.Sprintf("; its cache of %s is %d %s behind", kind, n, changes)
	}
	return text
}
