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

// redactor makes JSON of objects and patches, without what is not to be recorded. What it returns is overwritten by the
// next.
type redactor struct {
	*redact.Redactor
	text  bytes.Buffer
	texts *texts
}

func newRedactor(o Options, same *comparisons) *redactor {
	rules := []redact.Rule{}
	if !o.KeepSecrets {
		rules = redact.Secrets()
	}
	for _, redaction := range o.Redact {
		rules = append(rules, redact.Rule{Kind: core.Kind(redaction.Kind), Pointer: redaction.Pointer})
	}
	return &redactor{Redactor: redact.New(rules), texts: newTexts(same)}
}

// object returns an object of a key as JSON.
func (r *redactor) object(key core.Key, o runtime.Object) (json.RawMessage, error) {
	text, err := r.marshal(key, o)
	if err != nil {
		return nil, err
	}
	return r.Text(key.Kind, text)
}

// body returns what a call sent as JSON.
func (r *redactor) body(c live.Call, sent body) (json.RawMessage, error) {
	switch {
	case sent.object != nil:
		key := c.Object
		if own := sent.object.GetObjectKind().GroupVersionKind().GroupKind(); own.Kind != "" {
			key.Kind = core.Kind(own.String()) // of the body of a subresource
		}
		if c.Verb != live.Apply {
			return r.object(key, sent.object)
		}
		text, err := r.marshal(key, sent.object)
		if err != nil {
			return nil, err
		}
		return r.Merge(key.Kind, text)
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

// marshal returns an object that nobody changes as JSON. Nothing is kept of one that has something to hide.
func (r *redactor) marshal(key core.Key, o runtime.Object) (json.RawMessage, error) {
	if r.Redacts(key.Kind) {
		key = core.Key{}
	}
	r.text.Reset()
	return r.texts.marshal(&r.text, key, o)
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
