package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
)

// Identity is what a search depends on, by names that users know: the binary, the system, its parameters, options. Only
// a check with the same identity can go on from a checkpoint. The order is that in which differences are told.
type Identity []Trait

// Trait is one thing that a search depends on.
type Trait struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Opaque tells that the value says nothing to people.
	Opaque bool `json:"opaque,omitempty"`
}

// Binary returns the trait of the program that runs, by a hash of its file.
func Binary() (Trait, error) {
	path, err := os.Executable()
	if err != nil {
		return Trait{}, err
	}
	file, err := os.Open(path)
	if err != nil {
		return Trait{}, err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return Trait{}, fmt.Errorf("read %s: %w", path, err)
	}
	return Trait{Name: "the binary", Value: hex.EncodeToString(hash.Sum(nil)), Opaque: true}, nil
}

// MismatchError tells that a checkpoint is one of another check.
type MismatchError struct {
	Path string
	// Name is what differs, and Was and Is its values; they are empty if they say nothing to people.
	Name, Was, Is string
}

// Error implements error.
func (m *MismatchError) Error() string {
	how := "is not the same"
	if m.Was != m.Is {
		how = fmt.Sprintf("was %s, and is %s now", m.Was, m.Is)
	}
	return fmt.Sprintf("%s is a checkpoint of another check: %s %s. Go on with what it was made with, or begin a new check without it", m.Path, m.Name, how)
}

// compare returns the first difference between the identity in a file and that of a check.
func (i Identity) compare(path string, now Identity) error {
	was := map[string]Trait{}
	for _, t := range i {
		was[t.Name] = t
	}
	for _, t := range now {
		before, known := was[t.Name]
		delete(was, t.Name)
		switch {
		case known && before.Value == t.Value:
		case t.Opaque:
			return &MismatchError{Path: path, Name: t.Name}
		default:
			return &MismatchError{Path: path, Name: t.Name, Was: said(before.Value), Is: said(t.Value)}
		}
	}
	for _, t := range i {
		if _, left := was[t.Name]; left {
			return &MismatchError{Path: path, Name: t.Name, Was: said(t.Value), Is: said("")}
		}
	}
	return nil
}

func said(value string) string {
	if value == "" {
		return "not given"
	}
	return value
}
