package explore

import "context"

// Within calls a function that reads the space, and ends it when the context does: the next method of the space that it calls does not
// return then. What goes on within one step of a state is not ended, but real code is. It returns the error of the function, or that of the
// context if it ended the function.
func (s *Space) Within(ctx context.Context, read func() error) (err error) {
	reading, learning, ended := s.reading, s.learner.Context, s.ended
	s.reading, s.learner.Context, s.ended = ctx, ctx, nil
	defer func() {
		if s.ended != nil { // whoever calls methods of the space may have recovered
			err = s.ended
		}
		s.reading, s.learner.Context, s.ended = reading, learning, ended
		if value := recover(); value != nil {
			if _, ours := value.(interruption); !ours {
				panic(value)
			}
		}
	}()
	return read()
}

// interruption is the value of the panic that ends what reads a space.
type interruption struct{}

// attend ends what reads the space if its time is over.
func (s *Space) attend() {
	if s.reading == nil {
		return
	}
	if s.ended == nil {
		s.ended = s.reading.Err()
	}
	if s.ended != nil {
		panic(interruption{})
	}
}
