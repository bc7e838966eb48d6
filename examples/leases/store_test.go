package leases

import (
	"reflect"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// objects are a [core.Snapshot].
type objects map[core.Key]core.Content

func (o objects) Get(key core.Key) core.Content        { return o[key] }
func (o objects) List(core.Kind, string) []core.Object { return nil }
func (o objects) Held(core.Key) []core.Content         { return nil }
func record(host string) core.Key                      { return core.Key{Kind: Record, Name: host} }
func stored(to core.Content) []core.Write              { return []core.Write{{Key: record("web"), Content: to}} }

func TestReplace(t *testing.T) {
	old, none := objects{record("web"): address("10.0.0.7")}, objects{}
	for _, test := range []struct {
		name     string
		zone     objects
		from, to string
		err      string
		writes   []core.Write
	}{
		{"create", none, "", "10.0.0.7", "", stored(address("10.0.0.7"))},
		{"update", old, "10.0.0.7", "10.0.0.8", "", stored(address("10.0.0.8"))},
		{"delete", old, "10.0.0.7", "", "", stored(nil)},
		{"write what is there", old, "10.0.0.7", "10.0.0.7", "", nil},
		{"delete what is gone", none, "10.0.0.7", "", ErrChanged.Error(), nil},
		{"create what is there", old, "", "10.0.0.8", ErrChanged.Error(), nil},
	} {
		got, err := store{}.Answer(test.zone, call{verb: replace, host: "web", from: test.from, to: test.to})
		if err != nil {
			t.Fatal(err)
		}
		if said := got.Response.(answer).err; said != test.err || !reflect.DeepEqual(got.Writes, test.writes) {
			t.Errorf("%s: error %q, writes %v, want %q and %v", test.name, said, got.Writes, test.err, test.writes)
		}
	}
}
