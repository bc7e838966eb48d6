package observe

import (
	"reflect"
	"time"
)

// bytesOf returns about how much memory an object takes, and no more than a limit: then it stops to look.
func bytesOf(o any, limit int) int {
	w := weighing{left: limit}
	v := reflect.ValueOf(o)
	w.add(int(v.Type().Size()))
	w.behind(v)
	return limit - max(0, w.left)
}

// weighing adds up memory. It ends when nothing is left: objects are types of users, and can refer to themselves.
type weighing struct{ left int }

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
		if refers(v.Type().Elem()) {
			for i := 0; i < v.Len() && w.left > 0; i++ {
				w.behind(v.Index(i))
			}
		}
	case reflect.Array:
		for i := 0; i < v.Len() && refers(v.Type().Elem()) && w.left > 0; i++ {
			w.behind(v.Index(i))
		}
	case reflect.Map:
		w.add(max(1, 2*v.Len()*int(v.Type().Key().Size()+v.Type().Elem().Size()))) // tables have room
		for each := v.MapRange(); w.left > 0 && each.Next(); {
			w.behind(each.Key())
			w.behind(each.Value())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return // all have the same location
		}
		for i := range v.NumField() {
			w.behind(v.Field(i))
		}
	}
}

// refers reports whether values of a type can refer to others.
func refers(t reflect.Type) bool {
	return t.Kind() > reflect.Complex128 // the kinds up to there are numbers and truth values
}
