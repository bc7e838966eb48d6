package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// renaming gives the values that cannot be the same on two sides names that can. It
// goes along with one run on one side: names depend on what was seen before.
type renaming struct {
	suffix string
	// began is when the run began. Times around it are "now".
	began          time.Time
	normalisations []Normalisation

	// uids are the words to put for uids, wherever they occur.
	uids map[string]string
	// known are the uids in the order in which they were seen.
	known []string
	// versions are the resource versions seen of each object.
	versions map[string][]string
}

func newRenaming(suffix string, normalisations []Normalisation) *renaming {
	return &renaming{
		suffix:         suffix,
		began:          time.Now(),
		normalisations: normalisations,
		uids:           map[string]string{},
		versions:       map[string][]string{},
	}
}

// Answer is a reply in the words that all sides share. Exactly one of the fields is
// set, or none for a request that was done without an object in the answer.
type Answer struct {
	Refused tree   `json:"refused,omitempty"`
	Object  tree   `json:"object,omitempty"`
	Failed  string `json:"failed,omitempty"`
}

// answer renames a reply about objects of a kind.
func (r *renaming) answer(kind string, reply Reply) Answer {
	var a Answer
	switch {
	case reply.Refused != nil:
		a.Refused = r.refusal(reply.Refused)
	case reply.Failed != "":
		a.Failed = r.text(reply.Failed)
	case reply.Object != nil:
		a.Object = r.sent(kind, reply.Object)
	}
	return a
}

// versionsInMessage are the resource versions that messages name.
var versionsInMessage = regexp.MustCompile(`(ResourceVersion in (?:the )?(?:precondition|object meta|record):? \(?)\d+`)

var (
	// objectInMessage finds objects that messages quote, in whatever form the server has
	// them at that point.
	objectInMessage = regexp.MustCompile(`Invalid value: "?\{.*\}"?: `)
	// schemeInMessage finds the place in the server's source that names its scheme. It
	// depends on how the server was built.
	schemeInMessage = regexp.MustCompile(`in scheme "[^"]*"`)
	// diffInMessage finds what a server adds to show where such objects differ.
	diffInMessage = regexp.MustCompile(`\n@@(?s:.*)$`)
)

func (r *renaming) refusal(status *metav1.Status) tree {
	status = status.DeepCopy()
	messages := []*string{&status.Message}
	if status.Details != nil {
		for i := range status.Details.Causes {
			messages = append(messages, &status.Details.Causes[i].Message)
		}
	}
	for _, message := range messages {
		*message = versionsInMessage.ReplaceAllString(*message, "${1}(version)")
		*message = objectInMessage.ReplaceAllString(*message, "(object)")
		*message = schemeInMessage.ReplaceAllString(*message, "in scheme (scheme)")
		*message = diffInMessage.ReplaceAllString(*message, "")
	}
	text, err := json.Marshal(status)
	if err != nil {
		panic(fmt.Sprintf("conformance: a status cannot be written as JSON: %v", err))
	}
	var refused tree
	mustDecode(text, &refused)
	for _, same := range []string{"kind", "apiVersion", "metadata", "status"} {
		delete(refused, same)
	}
	refused, _ = r.words(refused).(tree)
	sortCauses(refused)
	return refused
}

// sortCauses brings the causes of a refusal in order. A server finds them in the order of
// a Go map, which is another one each time; so is that in the message, which says no more
// than they do.
func sortCauses(refused tree) {
	details, _ := refused["details"].(tree)
	causes, _ := details["causes"].([]any)
	if len(causes) < 2 {
		return
	}
	slices.SortFunc(causes, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	refused["message"] = "(as the causes)"
}

// sent renames an object or a list.
func (r *renaming) sent(kind string, object tree) tree {
	items, _ := object["items"].([]any)
	if _, list := object["items"]; !list {
		return r.object(kind, object)
	}
	renamed := tree{"kind": object["kind"], "apiVersion": object["apiVersion"]}
	metadata, _ := object["metadata"].(tree)
	if more, _ := metadata["continue"].(string); more != "" {
		renamed["more"] = true
		renamed["remaining"] = metadata["remainingItemCount"]
	}
	// Generated names sort differently on each side; the uids were seen in the order of creation.
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b any) int { return cmp.Compare(r.seen(a.(tree)), r.seen(b.(tree))) })
	kept := []any{}
	for _, item := range items {
		if o, ok := item.(tree); ok && r.ofRun(o) {
			kept = append(kept, r.object(kind, o))
		}
	}
	slices.SortStableFunc(kept, func(a, b any) int {
		return strings.Compare(objectName(a.(tree)), objectName(b.(tree)))
	})
	renamed["items"] = kept
	return renamed
}

// ofRun reports whether an object belongs to the run: servers have others.
func (r *renaming) ofRun(object tree) bool {
	u := unstructured.Unstructured{Object: object}
	return strings.Contains(u.GetNamespace()+" "+u.GetName(), r.suffix)
}

// objectName is the namespace and name of an object.
func objectName(object tree) string {
	u := unstructured.Unstructured{Object: object}
	return u.GetNamespace() + "/" + u.GetName()
}

// object renames one object.
func (r *renaming) object(kind string, object tree) tree {
	object = runtime.DeepCopyJSON(object)
	sortManagers(object)
	r.learn(kind, object)
	for _, n := range r.normalisations {
		n.apply(kind, object)
	}
	return r.words(object).(tree)
}

// sortManagers brings the record of who manages which fields in an order. Servers order it
// by the times in it, of which only the presence is compared.
func sortManagers(object tree) {
	metadata, _ := object["metadata"].(tree)
	entries, _ := metadata["managedFields"].([]any)
	slices.SortStableFunc(entries, func(a, b any) int {
		for _, name := range []string{"manager", "operation", "subresource", "apiVersion"} {
			if order := strings.Compare(fmt.Sprint(a.(tree)[name]), fmt.Sprint(b.(tree)[name])); order != 0 {
				return order
			}
		}
		return 0
	})
}

// learn takes up the names that an object brings, and renames its resource version.
func (r *renaming) learn(kind string, object tree) {
	u := unstructured.Unstructured{Object: object}
	identity := r.text(kind + " " + strings.TrimPrefix(objectName(object), "/"))
	if uid := string(u.GetUID()); uid != "" {
		r.name(uid, "uid of "+identity)
	}
	version := u.GetResourceVersion()
	if version == "" {
		return
	}
	if strings.Contains(identity, generatedWord) {
		// Which of them an earlier version belonged to cannot be told.
		u.SetResourceVersion("(set)")
		return
	}
	known := r.versions[identity]
	if !slices.Contains(known, version) {
		known = append(known, version)
		r.versions[identity] = known
	}
	u.SetResourceVersion(fmt.Sprintf("version %d", slices.Index(known, version)+1))
}

// name puts a word in the place of a uid from now on.
func (r *renaming) name(uid, word string) {
	if _, known := r.uids[uid]; !known {
		r.known = append(r.known, uid)
	}
	r.uids[uid] = word
}

// seen tells when the uid of an object was first seen: a number that is smaller for
// earlier ones, and the largest for one that was not seen yet.
func (r *renaming) seen(object tree) int {
	u := unstructured.Unstructured{Object: object}
	if i := slices.Index(r.known, string(u.GetUID())); i >= 0 {
		return i
	}
	return len(r.known)
}

// words renames all texts below a value.
func (r *renaming) words(value any) any {
	switch v := value.(type) {
	case string:
		return r.text(v)
	case tree:
		renamed := make(tree, len(v))
		for name, below := range v {
			renamed[r.text(name)] = r.words(below)
		}
		return renamed
	case []any:
		renamed := make([]any, len(v))
		for i, below := range v {
			renamed[i] = r.words(below)
		}
		return renamed
	}
	return value
}

// strangeUID finds random uids that no object was seen with: messages name those of objects
// that were not created.
var strangeUID = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[1-9a-f][0-9a-f]{3}-[2-9a-f][0-9a-f]{3}-[0-9a-f]{12}\b`)

// address finds addresses of Services, which a server picks.
var address = regexp.MustCompile(`\b10\.0\.\d+\.\d+\b`)

// generatedName finds names that a server has made from a generateName of the generator.
var generatedName = regexp.MustCompile(`\b(gen-run-)[a-z0-9]{5}\b`)

// generatedWord is what is put for the part that the server has made.
const generatedWord = "(generated)"

// timestamp finds times as API servers write them.
var timestamp = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)

// text renames what is in a text.
func (r *renaming) text(text string) string {
	for _, uid := range r.known {
		text = strings.ReplaceAll(text, uid, r.uids[uid])
	}
	// Most texts are short words, and patterns take their time.
	if strings.Contains(text, "T") {
		text = timestamp.ReplaceAllStringFunc(text, r.time)
	}
	text = strings.ReplaceAll(text, r.suffix, "-run")
	if strings.Contains(text, "gen-run-") {
		text = generatedName.ReplaceAllString(text, "${1}"+generatedWord)
	}
	if strings.Count(text, "-") >= 4 {
		text = strangeUID.ReplaceAllString(text, "(uid)")
	}
	if strings.Contains(text, "10.0.") {
		text = address.ReplaceAllString(text, "(address)")
	}
	return text
}

// simulatedYear is the year in which the simulated server always is. No request names a
// time in it.
const simulatedYear = 2000

// time is the word for a time of the run; other times stay.
func (r *renaming) time(text string) string {
	const around = 2 * time.Hour
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return text
	}
	if at.Year() == simulatedYear || at.Sub(r.began).Abs() < around {
		return "now"
	}
	return text
}
