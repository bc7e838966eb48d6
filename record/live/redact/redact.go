// Package redact takes out of objects and patches what is not to be recorded. A value is replaced by a keyed digest:
// whoever has the recording can tell equal values of one process from different ones, and cannot find a value by
// trying.
package redact

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// lastApplied is an annotation that holds the whole object once more.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Rule names fields whose values are not recorded.
type Rule struct {
	// Kind is the kind of the objects, with its group behind a dot. Empty means every kind.
	Kind core.Kind
	// Pointer is a JSON pointer (RFC 6901) to the fields, in which "*" stands for every key of an object and every item
	// of an array.
	Pointer string
	// what says it in other words, empty if there are none.
	what string
}

// Secrets returns the rules for the values of Secrets and for tokens.
func Secrets() []Rule {
	const tokens = "tokens of TokenRequests and TokenReviews"
	return []Rule{
		{"Secret", "/data/*", "data and stringData of Secrets"}, {"Secret", "/stringData/*", "data and stringData of Secrets"},
		{"TokenRequest.authentication.k8s.io", "/status/token", tokens}, {"TokenReview.authentication.k8s.io", "/spec/token", tokens},
	}
}

// Redactor replaces values of objects and patches.
type Redactor struct {
	rules []rule
	key   [32]byte
	words []string
}

// rule is a rule with its pointer as keys.
type rule struct {
	kind core.Kind
	path []string
}

// New returns a redactor with a key of its own.
func New(rules []Rule) *Redactor {
	r := &Redactor{}
	_, _ = rand.Read(r.key[:]) // it never fails
	for _, of := range rules {
		r.rules = append(r.rules, rule{of.Kind, keys(of.Pointer)})
		words := cmp.Or(of.what, of.Pointer+" of "+cmp.Or(string(of.Kind), "every kind"))
		if !slices.Contains(r.words, words) {
			r.words = append(r.words, words)
		}
	}
	return r
}

// Words says what is redacted.
func (r *Redactor) Words() []string { return r.words }

// keys returns the parts of a JSON pointer.
func keys(pointer string) []string {
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, part := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
	}
	return parts
}

// of returns the rules for a kind.
func (r *Redactor) of(kind core.Kind) []rule {
	var rules []rule
	for _, candidate := range r.rules {
		if candidate.kind == "" || candidate.kind == kind {
			rules = append(rules, candidate)
		}
	}
	return rules
}

// Redacts reports whether something of a kind is not recorded.
func (r *Redactor) Redacts(kind core.Kind) bool { return len(r.of(kind)) > 0 }

// Text returns the JSON of an object without what is redacted.
func (r *Redactor) Text(kind core.Kind, text []byte) (json.RawMessage, error) {
	return r.text(r.of(kind), text)
}

// Merge returns the JSON of a patch that looks like an object: one to be merged, or to be applied. Its lists can hold
// some of the items only, so that a number in a rule stands for every item.
func (r *Redactor) Merge(kind core.Kind, text []byte) (json.RawMessage, error) {
	return r.text(anywhere(r.of(kind)), text)
}

func (r *Redactor) text(rules []rule, text []byte) (json.RawMessage, error) {
	if len(rules) == 0 {
		return text, nil
	}
	tree, err := parse(text)
	if err != nil {
		return nil, err
	}
	object, ok := tree.(map[string]any)
	if !ok { // where a rule leads to is not known
		return marshal(r.digest(tree))
	}
	for _, rule := range rules {
		r.at(object, rule.path)
	}
	r.copies(object)
	return marshal(object)
}

// anywhere returns rules whose numbers stand for every item: those of patches.
func anywhere(rules []rule) []rule {
	patched := make([]rule, 0, len(rules))
	for _, of := range rules {
		path := slices.Clone(of.path)
		for i, part := range path {
			if _, err := strconv.ParseUint(part, 10, 64); err == nil {
				path[i] = "*"
			}
		}
		patched = append(patched, rule{of.kind, path})
	}
	return patched
}

// parse keeps the digits of numbers.
func parse(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON")
	}
	return tree, nil
}

// at returns a tree with the values at a path replaced. What cannot be followed further is not there, but for a value
// where a rule wants every key or item of something: that is replaced as well.
func (r *Redactor) at(tree any, path []string) any {
	if len(path) == 0 {
		return r.digest(tree)
	}
	switch t := tree.(type) {
	case map[string]any:
		for key, value := range t {
			if path[0] == "*" || path[0] == fieldOf(key) {
				t[key] = r.at(value, path[1:])
			}
		}
	case []any:
		for i, value := range t {
			if path[0] == "*" || path[0] == strconv.Itoa(i) {
				t[i] = r.at(value, path[1:])
			}
		}
	default:
		if path[0] == "*" {
			return r.digest(tree)
		}
	}
	return tree
}

// fieldOf returns the field that a key is about: strategic merge patches say beside a list in which order its items
// are, and which ones are taken out of it.
func fieldOf(key string) string {
	for _, directive := range []string{"$setElementOrder/", "$deleteFromPrimitiveList/"} {
		if field, is := strings.CutPrefix(key, directive); is {
			return field
		}
	}
	return key
}

// copies removes what metadata can repeat of fields: the annotation that holds the object as it was applied, and the
// values by which items of sets are owned.
func (r *Redactor) copies(object map[string]any) {
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
func (r *Redactor) digest(value any) any {
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

// Patch returns a JSON patch without what is redacted. An operation is redacted if it puts something in, or tests for
// something, where a rule points to, below, or above.
func (r *Redactor) Patch(kind core.Kind, text []byte) (json.RawMessage, error) {
	rules := anywhere(r.of(kind))
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

// marshal returns a value as JSON, readable as it is.
func marshal(v any) (json.RawMessage, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
