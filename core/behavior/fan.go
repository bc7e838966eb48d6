package behavior

import "github.com/orrery-dev/orrery/core/state"

// fan finds the branch of a value. Most calls see one or two values of a cell, some
// see all of them, and a few see some of very many: each gets the form that suits it.
type fan struct {
	// few holds the first values, in the order in which they came.
	few []ray
	// dense holds all of them by value, sparse the rest where dense would be mostly
	// empty. At most one of the two is set.
	dense  []branch
	sparse map[state.Value]branch
}

type ray struct {
	value  state.Value
	branch branch
}

const (
	// fewest is how many values are looked through one by one.
	fewest = 4
	// emptiest is how many places a dense fan may have for each value in it.
	emptiest = 8
)

// get returns the branch of a value, an empty one if there is none.
func (f *fan) get(value state.Value) branch {
	if f.dense != nil {
		if int(value) < len(f.dense) {
			return f.dense[value]
		}
		return branch{}
	}
	for i := range f.few {
		if f.few[i].value == value {
			return f.few[i].branch
		}
	}
	return f.sparse[value]
}

// put sets the branch of a value.
func (f *fan) put(value state.Value, b branch) {
	for i := range f.few {
		if f.few[i].value == value {
			f.few[i].branch = b
			return
		}
	}
	switch {
	case f.dense != nil && int(value) < 2*len(f.dense):
		for int(value) >= len(f.dense) {
			f.dense = append(f.dense, branch{})
		}
		f.dense[value] = b
	case f.dense == nil && f.sparse == nil && len(f.few) < fewest:
		f.few = append(f.few, ray{value, b})
	default:
		f.spread(value, b)
	}
}

// spread adds a value that is far beyond the dense part or belongs to the sparse
// one, and chooses between the two again.
func (f *fan) spread(value state.Value, b branch) {
	all := f.sparse
	if all == nil {
		all = map[state.Value]branch{}
		for i, known := range f.dense {
			if known != (branch{}) {
				all[state.Value(i)] = known
			}
		}
	}
	all[value] = b
	highest := value
	for v := range all {
		highest = max(highest, v)
	}
	for _, r := range f.few {
		highest = max(highest, r.value)
	}
	if int(highest) >= emptiest*(len(all)+len(f.few)) {
		f.dense, f.sparse = nil, all
		return
	}
	dense := make([]branch, highest+1)
	for v, known := range all {
		dense[v] = known
	}
	for _, r := range f.few {
		dense[r.value] = r.branch
	}
	f.few, f.dense, f.sparse = nil, dense, nil
}
