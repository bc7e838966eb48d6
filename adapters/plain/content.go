package plain

import (
	"fmt"
	"reflect"

	"github.com/orrery-dev/orrery/core"
)

// content is one value of a variable. It implements [core.Content].
type content[T any] struct {
	value T
	text  string
	// shares tells that the value holds slices or maps.
	shares bool
	// err says why the value cannot be stored, if it cannot.
	err error
}

func newContent[T any](value T) *content[T] {
	switch v := any(value).(type) {
	case int, string, bool:
		return &content[T]{value: value, text: string(encode(nil, reflect.ValueOf(v)))}
	}
	shares, err := inspect(reflect.TypeFor[T]())
	if err != nil {
		return &content[T]{value: value, err: err}
	}
	c := &content[T]{value: value, shares: shares}
	c.value = c.get()
	c.text = string(encode(nil, reflect.ValueOf(c.value)))
	return c
}

// get returns the value; nothing that the caller does to it changes the content.
func (c *content[T]) get() T {
	if !c.shares {
		return c.value
	}
	return duplicate(reflect.ValueOf(c.value)).Interface().(T)
}

func (c *content[T]) Canonical() string { return c.text }

func (c *content[T]) Fields() any { return fields(reflect.ValueOf(c.value)) }

func (c *content[T]) invalid() error { return c.err }

// validate returns an error that says what to change if the object is not a
// variable of this package or holds what cannot be stored.
func validate(o core.Object) error {
	c, ok := o.Content.(interface{ invalid() error })
	if !ok {
		return fmt.Errorf("%s is not a variable of package plain: make it with Var.Is", o.Key)
	}
	if err := c.invalid(); err != nil {
		return fmt.Errorf("%s cannot be stored: %w", o.Key, err)
	}
	return nil
}
