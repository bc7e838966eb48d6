package observe

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/redact"
)

// redactor takes out of objects and patches what is not to be recorded.
type redactor struct{ *redact.Redactor }

func newRedactor(o Options) *redactor {
	rules := []redact.Rule{}
	if !o.KeepSecrets {
		rules = redact.Secrets()
	}
	for _, redaction := range o.Redact {
		rules = append(rules, redact.Rule{Kind: core.Kind(redaction.Kind), Pointer: redaction.Pointer})
	}
	return &redactor{redact.New(rules)}
}

// object returns an object as JSON.
func (r *redactor) object(kind core.Kind, o runtime.Object) (json.RawMessage, error) {
	text, err := marshal(o)
	if err != nil {
		return nil, err
	}
	return r.Text(kind, text)
}

// body returns what a call sent as JSON.
func (r *redactor) body(c live.Call, sent body) (json.RawMessage, error) {
	switch {
	case sent.object != nil:
		kind := c.Object.Kind
		if own := sent.object.GetObjectKind().GroupVersionKind().GroupKind(); own.Kind != "" {
			kind = core.Kind(own.String()) // of the body of a subresource
		}
		if c.Verb != live.Apply {
			return r.object(kind, sent.object)
		}
		text, err := marshal(sent.object)
		if err != nil {
			return nil, err
		}
		return r.Merge(kind, text)
	case sent.text == nil:
		return nil, nil
	case c.Write != nil && c.Write.Patch == string(types.JSONPatchType):
		return r.Patch(c.Object.Kind, sent.text)
	}
	text, err := r.Merge(c.Object.Kind, sent.text)
	if err != nil {
		return nil, fmt.Errorf("a patch that is not JSON: %w", err)
	}
	return text, nil
}
