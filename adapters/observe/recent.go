package observe

import "k8s.io/apimachinery/pkg/runtime"

// recentLimit bounds the memory for objects that are kept to be compared.
const recentLimit = 2 << 20

// anyForm stands for the form in the hash of a version.
const anyForm = "any"

// recent are objects that the writer got not long ago, by the hashes of their versions in any form.
type recent struct {
	now, before map[uint64]*seen
	bytes       int // of those from now
}

// seen is an object in a form. Nobody changes it any more.
type seen struct {
	form   string
	object runtime.Object
}

// add keeps a version.
func (r *recent) add(hash uint64, v version) {
	if r.now == nil || r.bytes+v.bytes > recentLimit/2 {
		r.now, r.before, r.bytes = map[uint64]*seen{}, r.now, 0
	}
	if v.bytes > recentLimit/2 {
		return
	}
	r.now[hash], r.bytes = &seen{v.form, v.object}, r.bytes+v.bytes
}

// find returns a version, nil if it is not kept.
func (r *recent) find(hash uint64) *seen {
	if found := r.now[hash]; found != nil {
		return found
	}
	return r.before[hash]
}
