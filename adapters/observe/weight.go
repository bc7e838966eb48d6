package observe

import (
	"reflect"
	"sync"
	"time"
)

// bytesOf returns about how much memory an object takes, and no more than a limit: then it stops to look.
func (t *typesOf) bytesOf(o any, limit int) int {
	w := weighing{types: t, left: limit}
	v := reflect.ValueOf(o)
	w.add(int(v.Type().Size()))
	w.behind(v)
	return limit - max(0, w.left)
}

// weighing adds up memory. It ends when nothing is left: objects are types of users, and can refer to themselves.
type weighing struct {
	types *typesOf
	left  int
}

func (w *weighing) add(bytes int) { w.left -= bytes }

// behind adds what a value refers to. What is in the value itself is counted already.
func (w *weighing) behind(v reflect.Value) {
	if w.left <= 0 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		w.add(v.Len())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			inner := v.Elem()
			w.add(max(1, int(inner.Type().Size())))
			w.behind(inner)
		}
	case reflect.Slice:
		w.add(max(1, v.Len()*int(v.Type().Elem().Size())))
		if w.types.refers(v.Type().Elem()) {
			for i := 0; i < v.Len() && w.left > 0; i++ {
				w.behind(v.Index(i))
			}
		}
	case reflect.Array:
		for i := 0; i < v.Len() && w.types.refers(v.Type().Elem()) && w.left > 0; i++ {
			w.behind(v.Index(i))
		}
	case reflect.Map:
		w.add(max(1, 2*v.Len()*int(v.Type().Key().Size()+v.Type().Elem().Size()))) // tables have room
		for each := v.MapRange(); w.left > 0 && each.Next(); {
			w.behind(each.Key())
			w.behind(each.Value())
		}
	case reflect.Struct:
		for _, i := range w.types.referring(v.Type()) {
			w.behind(v.Field(i))
		}
	}
}

// refers reports whether values of a type can refer to others.
func (t *typesOf) refers(of reflect.Type) bool {
	switch of.Kind() {
	case reflect.Struct:
		return len(t.referring(of)) > 0
	case reflect.Array:
		return of.Len() > 0 && t.refers(of.Elem())
	}
	return of.Kind() > reflect.Complex128 // the kinds up to there are numbers and truth values
}

// typesOf knows which fields of types of structs can refer to something. To look at all of them in each object takes as long as to copy it.
type typesOf struct{ fields sync.Map }

// referring returns the places of such fields.
func (t *typesOf) referring(of reflect.Type) []int {
	if known, ok := t.fields.Load(of); ok {
		fields, _ := known.([]int)
		return fields
	}
	var fields []int
	if of != reflect.TypeFor[time.Time]() { // all have the same location
		for i := range of.NumField() {
			if t.refers(of.Field(i).Type) {
				fields = append(fields, i)
			}
		}
	}
	t.fields.Store(of, fields)
	return fields
}
