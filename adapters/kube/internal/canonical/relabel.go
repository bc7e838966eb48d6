package canonical

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/randomness"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// Names that the server generates, and uids, depend on the order in which objects were created, the addresses of Pods
// on the nodes that run them, and versions that are noted in other objects on words and times that make no difference.
// Two outcomes that differ in nothing else are the same. So an outcome is brought to a form that does not depend on
// them: each is replaced, wherever it stands, by one that depends on what the objects say; see [relabelling]. Nothing
// else is: outcomes that differ in more stay different.

// CanonicalOutcome returns the form of an outcome that does not depend on what the server chose, on times that were
// read off the clock (see [Clock]), nor on words that somebody drew at random. Of the objects it takes their uids and
// which of their names were generated.
func (f *Form) CanonicalOutcome(objects []core.Object, outcome map[core.Key]any, source *randomness.Source) map[core.Key]any {
	f.clock.tell(objects, outcome, f.fieldsOf)
	outcome = maps.Clone(outcome)
	sign(outcome, source)
	for _, o := range objects {
		if tree, ok := outcome[o.Key].(map[string]any); ok {
			fields := f.fieldsOf(o.Key.Kind)
			outcome[o.Key] = fields.timeless(fields.places, "", runtime.DeepCopyJSON(tree))
		}
	}
	p := &parser{form: f, outcome: outcome, drawn: map[string]bool{}, hashes: map[string]bool{}, replaced: map[string]bool{}, named: map[string][]core.Key{}, chosen: map[string]int{}}
	p.findTemplateHashes()
	if source.Knows() {
		p.findWords(source)
	}
	p.collect(objects)
	l := &relabelling{limit: relabellingLimit}
	for _, key := range slices.SortedFunc(maps.Keys(outcome), core.Key.Compare) {
		p.unite(key)
	}
	l.choices = p.choices()
	for _, key := range slices.SortedFunc(maps.Keys(outcome), core.Key.Compare) {
		l.objects = append(l.objects, p.object(key))
	}
	labels, found := l.labels()
	if !found {
		// Too much is alike to be told apart in time. Under their own names outcomes may differ that are the same; none
		// are the same that differ.
		labels = func(choice int) string { return l.choices[choice].text }
	}
	canonical := make(map[core.Key]any, len(l.objects))
	for _, o := range l.objects {
		key := core.Key{Kind: o.kind, Namespace: o.namespace.render(labels), Name: o.name.render(labels)}
		canonical[key] = o.tree.value(labels)
	}
	return canonical
}

// choice is a text that nobody asked for: a generated name, the uid of an object that is gone, or a word that somebody
// drew at random.
type choice struct {
	// text is what was chosen, and base what of it was asked for.
	text string
	base text
	// from are the words that are gone from which a word follows, such as the password of which it is the checksum.
	from []int
}

// origin says how a choice came about.
func (c choice) origin(label func(int) string) string {
	return c.base.render(label) + c.following(label)
}

// following says from what a word follows, nothing if it does not.
func (c choice) following(label func(int) string) string {
	if len(c.from) == 0 {
		return ""
	}
	labels := make([]string, len(c.from))
	for i, from := range c.from {
		labels[i] = label(from)
	}
	slices.Sort(labels)
	return " from " + strings.Join(labels, ", ")
}

// goneUID is what the uids of objects that are gone have in common.
const goneUID = "<uid of what is gone>"

// parser takes the objects of an outcome apart.
type parser struct {
	form    *Form
	outcome map[core.Key]any
	// uids are the keys of the objects by their uids.
	uids map[string]core.Key
	// addresses are the keys of the Pods by their addresses, of which nodes choose any.
	addresses map[string]core.Key
	// versions are the keys of the objects by their versions, which follow from all that an object says, also where
	// that does not matter. One that was noted before the object changed again stays what it is.
	versions map[string]core.Key
	// named are the objects of each generated name, in order.
	named map[string][]core.Key
	// words are the texts to look for, the longest first, and gone the uids among them of objects that are gone.
	words []string
	gone  []string
	drawn map[string]bool
	// hashes are those of them that are hashes of templates.
	hashes map[string]bool
	// replaced are words that were drawn and are gone, and origins those of them from which words follow.
	replaced map[string]bool
	origins  map[string][]string

	// places of objects among all with generated names, and for each the first one that must have the same name.
	index map[core.Key]int
	same  []int
	keys  []core.Key
	// numbers are those of choices, by the first object of the name, and chosen those of uids.
	numbers map[int]int
	chosen  map[string]int
}

// collect finds the generated names and the uids that texts may contain.
func (p *parser) collect(objects []core.Object) {
	p.index, p.numbers = map[core.Key]int{}, map[int]int{}
	uids, addresses, versions := once{}, once{}, once{}
	for _, o := range objects {
		if storage.IsRecord(o.Key.Kind) {
			continue
		}
		object := storage.Of(o.Content)
		meta := object.Meta()
		uids.add(string(meta.GetUID()), o.Key)
		versions.add(object.Version, o.Key)
		if o.Key.Kind == "Pod" {
			status, _ := object.Tree["status"].(map[string]any)
			address, _ := status["podIP"].(string)
			addresses.add(address, o.Key)
		}
		_, matters := p.outcome[o.Key]
		if matters && storage.Generated(o.Key.Name, meta.GetGenerateName()) {
			p.index[o.Key] = len(p.keys)
			p.same = append(p.same, len(p.keys))
			p.keys = append(p.keys, o.Key)
			p.named[o.Key.Name] = append(p.named[o.Key.Name], o.Key)
		}
	}
	p.uids, p.addresses = uids.only(), addresses.only()
	if p.versions = versions.only(); !p.notesVersions() {
		p.versions = nil
	}
	for _, o := range objects {
		if storage.IsRecord(o.Key.Kind) || p.outcome[o.Key] == nil {
			continue
		}
		for _, uid := range storage.Owners(storage.Of(o.Content)) {
			if p.uids[string(uid)] == (core.Key{}) && ofServer(string(uid)) && !slices.Contains(p.gone, string(uid)) {
				p.gone = append(p.gone, string(uid))
			}
		}
	}
	p.words = slices.Concat(slices.Collect(maps.Keys(p.uids)), slices.Collect(maps.Keys(p.addresses)), slices.Collect(maps.Keys(p.versions)), slices.Collect(maps.Keys(p.named)), p.gone, slices.Collect(maps.Keys(p.drawn)))
	slices.SortFunc(p.words, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
}

// notesVersions reports whether anything in the outcome is as long as versions are, and a number. In most there is
// nothing.
func (p *parser) notesVersions() bool {
	found := false
	for _, fields := range p.outcome {
		jsontree.Texts(fields, func(text string, _ bool) string {
			digits := 0
			for i := range len(text) {
				if digits++; text[i] < '0' || text[i] > '9' {
					digits = 0
				}
				found = found || digits >= storage.VersionLength
			}
			return text
		})
	}
	return found
}

// once tells objects by what each of them alone has: by all of them that have it, in turn.
type once map[string][]core.Key

func (o once) add(text string, key core.Key) { o[text] = append(o[text], key) }

// only returns the objects by what no other object has.
func (o once) only() map[string]core.Key {
	only := map[string]core.Key{}
	for text, keys := range o {
		if text != "" && len(keys) == 1 {
			only[text] = keys[0]
		}
	}
	return only
}

// ofServer reports whether a uid has the form of those that the server gives.
func ofServer(uid string) bool {
	const version, length = 14, 36
	return len(uid) == length && uid[version] == '8'
}

// unite finds the objects of equal names between which a text in an object does not tell: they keep equal names.
func (p *parser) unite(key core.Key) {
	p.node(key, p.form.fieldsOf(key.Kind), nil, "", p.outcome[key])
	p.text(key, key.Namespace, nil)
	if _, generated := p.index[key]; !generated {
		p.text(key, key.Name, nil)
	}
}

// first is the first of the objects that must have the same name as one.
func (p *parser) first(i int) int {
	for p.same[i] != i {
		i = p.same[i]
	}
	return i
}

// choices numbers what was chosen.
func (p *parser) choices() []choice {
	var all []choice
	for i := range p.keys {
		if p.first(i) == i {
			p.numbers[i] = len(all)
			all = append(all, choice{text: p.keys[i].Name})
		}
	}
	for _, uid := range p.gone {
		p.chosen[uid] = len(all)
		all = append(all, choice{text: uid, base: text{{literal: goneUID, choice: none}}})
	}
	for _, word := range slices.Sorted(maps.Keys(p.drawn)) {
		p.chosen[word] = len(all)
		base := drawnWord
		if p.hashes[word] {
			base = hashWord
		}
		all = append(all, choice{text: word, base: text{{literal: base, choice: none}}})
	}
	for _, word := range slices.Sorted(maps.Keys(p.replaced)) {
		p.chosen[word] = len(all)
		all = append(all, choice{text: word, base: text{{literal: goneWord, choice: none}}})
	}
	for word, origins := range p.origins {
		for _, origin := range origins {
			drawn := &all[p.chosen[word]]
			drawn.from = append(drawn.from, p.chosen[origin])
		}
	}
	for i, key := range p.keys {
		if number, first := p.numbers[i]; first {
			base := key.Name[:len(key.Name)-storage.SuffixLength]
			all[number].base = p.text(key, base, nil)
		}
	}
	return all
}

// object takes one object apart.
func (p *parser) object(key core.Key) *relabelled {
	o := &relabelled{kind: key.Kind, namespace: p.text(key, key.Namespace, nil), name: p.nameOf(key)}
	fields := p.form.fieldsOf(key.Kind)
	o.tree = p.node(key, fields, fields.places, "", p.outcome[key])
	mentioned := map[int]bool{}
	o.namespace.mentions(mentioned)
	o.name.mentions(mentioned)
	o.tree.mentions(mentioned)
	o.mentioned = slices.Sorted(maps.Keys(mentioned))
	return o
}

// nameOf is the name of an object.
func (p *parser) nameOf(key core.Key) text {
	if i, generated := p.index[key]; generated {
		return text{{choice: p.numbers[p.first(i)]}}
	}
	return p.text(key, key.Name, nil)
}

// node takes a value in an object apart.
func (p *parser) node(of core.Key, fields kindFields, at *place, path string, value any) *node {
	switch value := value.(type) {
	case string:
		if path == "metadata.name" {
			return &node{text: p.nameOf(of), isText: true}
		}
		return &node{text: p.text(of, value, nil), isText: true}
	case map[string]any:
		n := &node{isObject: true}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			n.names = append(n.names, p.text(of, name, nil))
			if text, isText := value[name].(string); isText && name == "name" && path != "metadata" {
				n.items = append(n.items, &node{text: p.text(of, text, value), isText: true})
				continue
			}
			n.items = append(n.items, p.node(of, fields, at.field(name), core.FieldOf(path, name), value[name]))
		}
		return n
	case []any:
		n := &node{isList: true, listing: fields.listing(at, path, value)}
		for _, item := range value {
			n.items = append(n.items, p.node(of, fields, at.item(), path, item))
		}
		return n
	}
	return &node{scalar: value}
}

// text takes a text in an object apart. What refers to another object by kind and name is given as a whole.
func (p *parser) text(of core.Key, whole string, reference map[string]any) text {
	var parts text
	literal := func(s string) {
		if s != "" {
			parts = append(parts, segment{literal: s, choice: none})
		}
	}
	rest := whole
	for rest != "" {
		at, word := p.next(whole, len(whole)-len(rest))
		if word == "" {
			break
		}
		literal(rest[:at-(len(whole)-len(rest))])
		rest = whole[at+len(word):]
		if number, chosen := p.chosen[word]; chosen {
			parts = append(parts, segment{choice: number})
			continue
		}
		if what, key := p.refersTo(word); what != "" {
			literal("<" + what + " of " + string(key.Kind) + " ")
			if key.Namespace != "" {
				parts = append(parts, p.text(key, key.Namespace, nil)...)
				literal("/")
			}
			parts = append(parts, p.nameOf(key)...)
			literal(">")
			continue
		}
		if len(p.named[word]) == 0 {
			literal(word) // the uid of what is gone, or what was drawn, before it has a number
			continue
		}
		parts = append(parts, segment{choice: p.numbers[p.first(p.meant(of, whole, word, reference))]})
	}
	literal(rest)
	return parts
}

// refersTo returns the object that a word refers to, and by what of it: nothing if it is none of these.
func (p *parser) refersTo(word string) (what string, key core.Key) {
	if key, refers := p.uids[word]; refers {
		return "uid", key
	}
	if key, refers := p.addresses[word]; refers {
		return "address", key
	}
	if key, refers := p.versions[word]; refers {
		return "version", key
	}
	return "", core.Key{}
}

// next returns the first word to look for in a text from a position on, and where it begins. Where several begin, it is
// the longest.
func (p *parser) next(whole string, from int) (at int, word string) {
	at = len(whole)
	for _, w := range p.words {
		for begin := from; begin <= len(whole)-len(w); begin++ {
			i := strings.Index(whole[begin:], w)
			if i < 0 || begin+i >= at {
				break
			}
			begin += i
			if standsAlone(whole, begin, begin+len(w)) || p.drawn[w] && endsAt(whole, begin+len(w)) {
				at, word = begin, w
				break
			}
		}
	}
	return at, word
}

// standsAlone reports whether no letter and no digit is next to a part of a text.
func standsAlone(whole string, from, to int) bool {
	return (from == 0 || !alphanumeric(whole[from-1])) && endsAt(whole, to)
}

// endsAt reports whether a word of a text may end at a position.
func endsAt(whole string, at int) bool { return at == len(whole) || !alphanumeric(whole[at]) }

func alphanumeric(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// meant is the object that a generated name in a text of an object means. Where that may be several, they are united,
// and it is any of them.
func (p *parser) meant(of core.Key, whole, name string, reference map[string]any) int {
	candidates := p.named[name]
	if kind, isText := reference["kind"].(string); isText && whole == name {
		namespace, _ := reference["namespace"].(string)
		group, _ := reference["apiGroup"].(string)
		if apiVersion, isText := reference["apiVersion"].(string); isText {
			group, _, _ = strings.Cut(apiVersion, "/")
			if !strings.Contains(apiVersion, "/") {
				group = ""
			}
		}
		candidates = narrowed(candidates, func(key core.Key) bool {
			short, of, _ := strings.Cut(string(key.Kind), ".")
			return short == kind && of == group && (namespace == "" || key.Namespace == "" || key.Namespace == namespace)
		})
	}
	candidates = narrowed(candidates, func(key core.Key) bool {
		return key.Namespace == of.Namespace || key.Namespace == "" || of.Namespace == ""
	})
	meant := p.first(p.index[candidates[0]])
	for _, other := range candidates[1:] {
		p.same[p.first(p.index[other])] = meant
	}
	return meant
}

// narrowed are the candidates that fit, or all if none does.
func narrowed(candidates []core.Key, fits func(core.Key) bool) []core.Key {
	var fitting []core.Key
	for _, key := range candidates {
		if fits(key) {
			fitting = append(fitting, key)
		}
	}
	if len(fitting) == 0 {
		return candidates
	}
	return fitting
}

// numbered is what stands for a choice: the base, the number of it among those with this base, and what it follows from.
func numbered(base string, number int, following string) string {
	return base + "<generated-" + strconv.Itoa(number) + following + ">"
}
