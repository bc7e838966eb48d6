package foreign

import (
	"encoding/binary"
	"fmt"
	"io"
	"iter"

	"github.com/vmihailenco/msgpack/v5"
)

// depthLimit is how deep MessagePack may be nested: objects are some ten levels deep. It is decoded level by level on
// the stack.
const depthLimit = 128

// valueSize returns how many bytes the first value takes, with all that is in it. It refuses what is nested too deep,
// and what ends too early. So nothing that a header claims has to be believed, and maps with keys that are no texts,
// such as those of the lifetimes of Pods, can be passed over.
func valueSize(text []byte) (int, error) {
	at := 0
	left := []uint64{1} // values, by level
	for len(left) > 0 {
		if left[len(left)-1] == 0 {
			left = left[:len(left)-1]
			continue
		}
		left[len(left)-1]--
		skip, values, err := header(text[at:])
		switch {
		case err != nil:
			return 0, err
		case skip > uint64(len(text)-at):
			return 0, io.ErrUnexpectedEOF
		case values > 0 && len(left) == depthLimit:
			return 0, fmt.Errorf("it is nested deeper than %d levels", depthLimit)
		case values > 0:
			left = append(left, values)
		}
		at += int(skip)
	}
	return at, nil
}

// parts goes through the values in a value that is whole: the items of an array, or the keys and values of a map.
func parts(value []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		skip, count, err := header(value)
		if err != nil || skip > uint64(len(value)) {
			return
		}
		rest := value[skip:]
		for range count {
			size, err := valueSize(rest)
			if err != nil || !yield(rest[:size]) {
				return
			}
			rest = rest[size:]
		}
	}
}

// fieldOf returns the value of a field, if the value is a map that has it.
func fieldOf(value []byte, name string) ([]byte, bool) {
	if len(value) == 0 || !isMap(value[0]) {
		return nil, false
	}
	found, isKey := false, true
	for part := range parts(value) {
		switch {
		case found:
			return part, true
		case isKey:
			var key string
			found = len(part) <= len(name)+5 && msgpack.Unmarshal(part, &key) == nil && key == name
		}
		isKey = !isKey
	}
	return nil, false
}

// itemsOf goes through the items of an array. It reports whether the value is one.
func itemsOf(value []byte) (iter.Seq[[]byte], bool) {
	if len(value) == 0 || !isArray(value[0]) {
		return parts(nil), false
	}
	return parts(value), true
}

func isMap(code byte) bool   { return code >= 0x80 && code <= 0x8f || code == 0xde || code == 0xdf }
func isArray(code byte) bool { return code >= 0x90 && code <= 0x9f || code == 0xdc || code == 0xdd }

// header returns how many bytes a value takes without those in it, and how many are in it.
func header(text []byte) (skip, values uint64, err error) {
	if len(text) == 0 {
		return 0, 0, io.ErrUnexpectedEOF
	}
	code := text[0]
	// length returns a number of so many bytes behind the code.
	length := func(size int) uint64 {
		if len(text) < 1+size {
			err = io.ErrUnexpectedEOF
			return 0
		}
		padded := make([]byte, 8)
		copy(padded[8-size:], text[1:1+size])
		return binary.BigEndian.Uint64(padded)
	}
	switch {
	case code <= 0x7f, code >= 0xe0, code == 0xc0, code == 0xc2, code == 0xc3:
		return 1, 0, nil
	case code <= 0x8f:
		return 1, 2 * uint64(code&0xf), nil
	case code <= 0x9f:
		return 1, uint64(code & 0xf), nil
	case code <= 0xbf:
		return 1 + uint64(code&0x1f), 0, nil
	case code >= 0xc4 && code <= 0xc6: // bytes
		size := 1 << (code - 0xc4)
		return 1 + uint64(size) + length(size), 0, err
	case code >= 0xc7 && code <= 0xc9: // extensions
		size := 1 << (code - 0xc7)
		return 2 + uint64(size) + length(size), 0, err
	case code == 0xca, code == 0xce, code == 0xd2:
		return 5, 0, nil
	case code == 0xcb, code == 0xcf, code == 0xd3:
		return 9, 0, nil
	case code == 0xcc, code == 0xd0:
		return 2, 0, nil
	case code == 0xcd, code == 0xd1:
		return 3, 0, nil
	case code >= 0xd4 && code <= 0xd8: // extensions of a fixed size
		return 2 + 1<<(code-0xd4), 0, nil
	case code >= 0xd9 && code <= 0xdb: // strings
		size := 1 << (code - 0xd9)
		return 1 + uint64(size) + length(size), 0, err
	case code == 0xdc, code == 0xdd: // arrays
		size := 2 << (code - 0xdc)
		return 1 + uint64(size), length(size), err
	case code == 0xde, code == 0xdf: // maps
		size := 2 << (code - 0xde)
		return 1 + uint64(size), 2 * length(size), err
	}
	return 0, 0, fmt.Errorf("%#x starts no value", code)
}
