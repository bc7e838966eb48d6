package observe

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// lastApplied is an annotation that holds the whole object once more.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// redactor takes out of objects and patches what is not to be recorded. A value is replaced by a keyed digest: whoever has the recording can tell
// equal values of one process from different ones, and cannot find a value by trying.
type redactor struct {
	rules []rule
	key   [32]byte
	// words says what is redacted.
	words []string
}

// rule is a redaction with its pointer as keys.
type rule struct {
	kind core.Kind
	path []string
}

func newRedactor(o Options) *redactor {
	r := &redactor{}
	_, _ = rand.Read(r.key[:]) // it never fails
	if !o.KeepSecrets {
		r.words = append(r.words, "data and stringData of Secrets", "tokens of TokenRequests and TokenReviews")
		r.rules = append(r.rules,
			rule{"Secret", []string{"data", "*"}}, rule{"Secret", []string{"stringData", "*"}},
			rule{"TokenRequest.authentication.k8s.io", []string{"status", "token"}}, rule{"TokenReview.authentication.k8s.io", []string{"spec", "token"}},
		)
	}
	for _, redaction := range o.Redact {
		of := redaction.Kind
		if of == "" {
			of = "every kind"
		}
		r.words = append(r.words, redaction.Pointer+" of "+of)
		r.rules = append(r.rules, rule{core.Kind(redaction.Kind), keys(redaction.Pointer)})
	}
	return r
}

// keys returns the parts of a JSON pointer.
func keys(pointer string) []string {
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, part := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
	}
	return parts
}

// of returns the rules for a kind.
func (r *redactor) of(kind core.Kind) []rule {
	var rules []rule
	for _, candidate := range r.rules {
		if candidate.kind == "" || candidate.kind == kind {
			rules = append(rules, candidate)
		}
	}
	return rules
}

// redacts reports whether something of a kind is not recorded.
func (r *redactor) redacts(kind core.Kind) bool { return len(r.of(kind)) > 0 }

// object returns an object as JSON.
func (r *redactor) object(kind core.Kind, o runtime.Object) (json.RawMessage, error) {
	text, err := marshal(o)
	if err != nil {
		return nil, err
	}
	return r.text(kind, text)
}

// text returns the JSON of an object, or of a patch that looks like one.
func (r *redactor) text(kind core.Kind, text []byte) (json.RawMessage, error) {
	rules := r.of(kind)
	if len(rules) == 0 {
		return text, nil
	}
	tree, err := parse(text)
	if err != nil {
		return nil, err
	}
	for _, rule := range rules {
		tree = r.at(tree, rule.path)
	}
	if object, ok := tree.(map[string]any); ok {
		r.copies(object)
	}
	return marshal(tree)
}

// parse keeps the digits of numbers.
func parse(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var tree any
	err := decoder.Decode(&tree)
	return tree, err
}

// at returns a tree with the values at a path replaced. What cannot be followed further is not there.
func (r *redactor) at(tree any, path []string) any {
	if len(path) == 0 {
		return r.digest(tree)
	}
	switch t := tree.(type) {
	case map[string]any:
		for key, value := range t {
			if path[0] == "*" || path[0] == key {
				t[key] = r.at(value, path[1:])
			}
		}
	case []any:
		for i, value := range t {
			if path[0] == "*" || path[0] == strconv.Itoa(i) {
				t[i] = r.at(value, path[1:])
			}
		}
	}
	return tree
}

// copies removes what metadata can repeat of fields: the annotation that holds the object as it was applied, and the values by which items of sets are owned.
func (r *redactor) copies(object map[string]any) {
	meta, ok := object["metadata"].(map[string]any)
	if !ok {
		return
	}
	if annotations, ok := meta["annotations"].(map[string]any); ok && annotations[lastApplied] != nil {
		annotations[lastApplied] = r.digest(annotations[lastApplied])
	}
	managers, _ := meta["managedFields"].([]any)
	for _, entry := range managers {
		if manager, ok := entry.(map[string]any); ok {
			delete(manager, "fieldsV1")
		}
	}
}

// digest returns what stands for a value. Nothing stands for itself: that a field is removed can be seen.
func (r *redactor) digest(value any) any {
	if value == nil {
		return nil
	}
	text, err := marshal(value)
	if err != nil {
		return "redacted"
	}
	mac := hmac.New(sha256.New, r.key[:])
	_, _ = mac.Write(text) // it never fails
	return "redacted:" + hex.EncodeToString(mac.Sum(nil)[:8])
}

// body returns what a call sent as JSON.
func (r *redactor) body(c live.Call, sent body) (json.RawMessage, error) {
	switch {
	case sent.object != nil:
		kind := c.Object.Kind
		if own := sent.object.GetObjectKind().GroupVersionKind().GroupKind(); own.Kind != "" {
			kind = core.Kind(own.String()) // of the body of a subresource
		}
		return r.object(kind, sent.object)
	case sent.text == nil:
		return nil, nil
	case c.Write != nil && c.Write.Patch == string(types.JSONPatchType):
		return r.operations(c.Object.Kind, sent.text)
	}
	text, err := r.text(c.Object.Kind, sent.text)
	if err != nil {
		return nil, fmt.Errorf("a patch that is not JSON: %w", err)
	}
	return text, nil
}

// operations returns a JSON patch. An operation is redacted if it puts something in, or tests for something, where a rule points to, below, or above.
func (r *redactor) operations(kind core.Kind, text []byte) (json.RawMessage, error) {
	rules := r.of(kind)
	if len(rules) == 0 {
		return text, nil
	}
	tree, err := parse(text)
	if err != nil {
		return nil, err
	}
	operations, ok := tree.([]any)
	if !ok {
		return nil, errors.New("a JSON patch that is no array")
	}
	for _, one := range operations {
		operation, ok := one.(map[string]any)
		if !ok {
			return nil, errors.New("a JSON patch with something that is no operation")
		}
		path, _ := operation["path"].(string)
		if value, has := operation["value"]; has && slices.ContainsFunc(rules, func(rule rule) bool { return meets(rule.path, keys(path)) }) || has && isCopy(path) {
			operation["value"] = r.digest(value)
		}
	}
	return marshal(tree)
}

// meets reports whether one of two paths leads to where the other one ends.
func meets(rule, path []string) bool {
	for i := range min(len(rule), len(path)) {
		// "-" is the end of an array
		if rule[i] != "*" && rule[i] != path[i] && path[i] != "-" {
			return false
		}
	}
	return true
}

// isCopy reports whether what is at a path can repeat other fields of the object.
func isCopy(path string) bool {
	parts := keys(path)
	return path == "" || parts[0] == "metadata" && (len(parts) == 1 || parts[1] == "annotations" || parts[1] == "managedFields")
}
