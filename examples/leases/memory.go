package leases

import (
	"fmt"

	"github.com/orrery-dev/orrery/core"
)

// remembering is an instance with memory.
type remembering struct {
	instance
	memory func() map[string]string
}

var _ core.Introspective = remembering{}

// Memory implements [core.Introspective].
func (r remembering) Memory() map[string]string { return r.memory() }

// published returns the memory of a publisher.
func published(p *Publisher) map[string]string {
	memory := map[string]string{}
	for host, address := range p.Published {
		memory[fmt.Sprintf("Publisher.Published[%s]", host)] = address
	}
	return memory
}
