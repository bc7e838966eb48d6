package plain

import (
	"reflect"

	"github.com/orrery-dev/orrery/core"
)

var _ core.Renamer = (*store)(nil)

// Rename implements [core.Renamer]. In the value of a variable it renames all strings, those in the keys of maps
// as well; only fields that are not exported keep theirs.
func (s *store) Rename(o core.Object, rename core.Renaming) core.Object {
	renamed := core.Object{Key: core.Key{Kind: o.Key.Kind, Namespace: rename(o.Key.Namespace), Name: rename(o.Key.Name)}}
	if o.Content != nil {
		renamed.Content = o.Content.(renamable).renamed(rename)
	}
	return renamed
}

// renamable is a [content] of any type.
type renamable interface {
	renamed(core.Renaming) core.Content
}

func (c *content[T]) renamed(rename core.Renaming) core.Content {
	if c.err != nil {
		return c
	}
	value := duplicate(reflect.ValueOf(c.value))
	renameStrings(value, rename)
	return newContent(value.Interface().(T))
}

// renameStrings renames all strings in a value that can be set and shares nothing.
func renameStrings(v reflect.Value, rename core.Renaming) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(rename(v.String()))
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			renameStrings(v.Index(i), rename)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				renameStrings(v.Field(i), rename)
			}
		}
	case reflect.Map:
		// What is in a map cannot be set there.
		entries := reflect.MakeMapWithSize(v.Type(), v.Len())
		for each := v.MapRange(); each.Next(); {
			key, value := duplicate(each.Key()), duplicate(each.Value())
			renameStrings(key, rename)
			renameStrings(value, rename)
			entries.SetMapIndex(key, value)
		}
		v.Set(entries)
	}
}
