package conformance

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// BenchmarkWrite puts the cost of one write on the simulated server, which remembers
// nothing here, beside that of the same write on the real one:
//
//	go test -run - -bench Write -requests 1
func BenchmarkWrite(b *testing.B) {
	l := newLaboratory(b)
	simulatedSide, _, err := l.Simulated.Begin(b.Context(), "-r00000")
	if err != nil {
		b.Fatal(err)
	}
	realSide, err := l.Real.Begin(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for _, side := range []struct {
		name string
		*Side
	}{{"simulated", simulatedSide}, {"real", realSide}} {
		b.Run(side.name, func(b *testing.B) {
			object := &corev1.ConfigMap{Data: map[string]string{"n": "first"}}
			object.Namespace, object.Name = "one"+side.suffix, "written"
			if err := side.client.Create(b.Context(), object); err != nil {
				b.Fatal(err)
			}
			for i := 0; b.Loop(); i++ {
				object.Data["n"] = fmt.Sprint(i)
				if err := side.client.Update(b.Context(), object); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
