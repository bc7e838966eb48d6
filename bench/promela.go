package bench

import "fmt"

// promela returns the model of n counters from 0 to k in the language of SPIN. A counter
// is a process with a variable that nobody else can see. To look at it and to count is one step, as
// in the model of the catalog, so that both have the same states: (k+1)^n.
func promela(n, k int) string {
	return fmt.Sprintf(`active [%d] proctype counter()
{
	byte x;

end:	do
	:: atomic { x < %d -> x++ }
	od
}
`, n, k)
}
