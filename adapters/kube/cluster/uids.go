package cluster

import (
	"regexp"

	"github.com/google/uuid"
)

// uids are the uids of objects, which every server chooses at random. Controllers are shown the recorded ones in place
// of the server's: they make names, labels and messages of them.
type uids struct {
	shape *regexp.Regexp
	// real are the server's uids by the recorded ones, and recorded the other way round.
	real, recorded map[string]string
}

func newUIDs() *uids {
	return &uids{
		shape:    regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`),
		real:     map[string]string{},
		recorded: map[string]string{},
	}
}

// pair takes note that two uids are of the same object. A deleted object may have had the recorded one before.
func (u *uids) pair(recorded, real string) {
	delete(u.recorded, u.real[recorded])
	u.real[recorded], u.recorded[real] = real, recorded
}

// toReal returns a text with the server's uids, and toRecorded one with the recorded ones, as far as they are known.
func (u *uids) toReal(text string) string     { return u.replaced(text, u.real) }
func (u *uids) toRecorded(text string) string { return u.replaced(text, u.recorded) }

func (u *uids) replaced(text string, by map[string]string) string {
	return u.shape.ReplaceAllStringFunc(text, func(uid string) string {
		if other, known := by[uid]; known {
			return other
		}
		return uid
	})
}

// same reports whether a uid that was read from the server is the recorded one. Two that nobody knows are paired: those
// that are seen together first.
func (u *uids) same(read, recorded string) bool {
	if known, ok := u.recorded[read]; ok {
		return known == recorded
	}
	_, taken := u.real[recorded]
	if _, translated := u.real[read]; translated || taken {
		return read == recorded
	}
	u.pair(recorded, read)
	return true
}

func isUID(value any) bool {
	text, ok := value.(string)
	return ok && uuid.Validate(text) == nil
}
