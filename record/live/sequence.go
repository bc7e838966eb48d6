package live

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// sequence is what is known of the entries of a recording up to some place in it.
type sequence struct {
	// objects is how many there were, and number the highest number of an entry.
	objects  int
	number   uint64
	complete bool
}

// accept holds an entry against those before it, so that whoever reads on need not: what an entry refers to was there,
// and numbers go upwards.
func (s *sequence) accept(e Entry) error {
	if s.complete {
		return errAfterEnd
	}
	switch e := e.(type) {
	case Object:
		s.objects++
	case Event:
		return s.event(e.N, e.Type, e.Object, e.Old)
	case Queued:
		return s.numbered(e.N, e.Event)
	case Begin:
		if err := s.numbered(e.N, 0); err != nil {
			return err
		}
		for _, cause := range e.Causes {
			if cause.N >= e.N {
				return errors.New("a reconcile has a cause that comes later")
			}
		}
	case Call:
		return s.call(e.N, e.Reconcile, e.Answer)
	case Done:
		if e.Reconcile == 0 {
			return errors.New("the end of a reconcile does not say of which")
		}
		return s.numbered(e.N, e.Reconcile)
	case End:
		s.complete = true
	}
	return nil
}

// errAfterEnd is the reason where a recording goes on behind its end.
var errAfterEnd = errors.New("something follows the end of the recording")

// event accepts an event.
func (s *sequence) event(n uint64, typed string, object, old int) error {
	if typed != Added && typed != Updated && typed != Deleted {
		return fmt.Errorf("there is no event %q", typed)
	}
	if object == 0 {
		return errors.New("an event is about no object")
	}
	return cmp.Or(s.numbered(n, 0), s.refers(object, old))
}

// call accepts a call.
func (s *sequence) call(n, owner uint64, answer []int) error {
	if slices.Contains(answer, 0) {
		return errors.New("an answer is no object")
	}
	return cmp.Or(s.numbered(n, owner), s.refers(answer...))
}

// numbered wants the number of an entry to be higher than those before, and than that of the reconcile or event it
// belongs to.
func (s *sequence) numbered(n, owner uint64) error {
	if n <= s.number {
		return fmt.Errorf("entry %d comes after entry %d", n, s.number)
	}
	s.number = n
	if owner >= n {
		return fmt.Errorf("entry %d belongs to something that begins later", n)
	}
	return nil
}

// refers wants objects to be there.
func (s *sequence) refers(objects ...int) error {
	for _, number := range objects {
		if number < 0 || number > s.objects {
			return fmt.Errorf("there is no object %d", number)
		}
	}
	return nil
}
