package observe

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/redact"
)

// redactor makes JSON of objects and patches, without what is not to be recorded. What it returns is overwritten by the next.
type redactor struct {
	*redact.Redactor
	text  bytes.Buffer
	owned *owned
}

func newRedactor(o Options) *redactor {
	rules := []redact.Rule{}
	if !o.KeepSecrets {
		rules = redact.Secrets()
	}
	for _, redaction := range o.Redact {
		rules = append(rules, redact.Rule{Kind: core.Kind(redaction.Kind), Pointer: redaction.Pointer})
	}
	return &redactor{Redactor: redact.New(rules), owned: newOwned()}
}

// object returns an object as JSON.
func (r *redactor) object(kind core.Kind, o runtime.Object) (json.RawMessage, error) {
	text, err := r.marshal(o)
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
		text, err := r.marshal(sent.object)
		if err != nil {
			return nil, err
		}
		return r.Merge(kind, text)
	case sent.text == nil:
		return nil, nil
	}
	r.text.Reset()
	if err := json.Compact(&r.text, sent.text); err != nil {
		return nil, fmt.Errorf("a patch that is not JSON: %w", err)
	}
	if c.Write != nil && c.Write.Patch == string(types.JSONPatchType) {
		return r.Patch(c.Object.Kind, r.text.Bytes())
	}
	return r.Merge(c.Object.Kind, r.text.Bytes())
}

// marshal returns an object that nobody else has as JSON.
func (r *redactor) marshal(o runtime.Object) (json.RawMessage, error) {
	r.text.Reset()
	return r.owned.marshal(&r.text, o)
}

// marshal writes a value as JSON to an empty buffer, readable as it is, and returns what the buffer holds.
func marshal(out *bytes.Buffer, v any) (json.RawMessage, error) {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
