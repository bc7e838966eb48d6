package cel

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/typo"
)

// spelling is what somebody wrote for a kind.
type spelling struct {
	// word is the kind, or the plural of its resource.
	word           string
	group, version string
	// grouped tells that the group was written, even if it is empty as that of "v1/Pod" is.
	grouped bool
}

// spell reads "Pod", "pods", "Deployment.apps", "deployments.apps", "apps/Deployment", "v1/Pod" and
// "apps/v1/Deployment".
func spell(text string) spelling {
	parts := strings.Split(text, "/")
	word := parts[len(parts)-1]
	switch {
	case len(parts) == 2 && isVersion(parts[0]):
		return spelling{word: word, version: parts[0], grouped: true}
	case len(parts) == 2:
		return spelling{word: word, group: parts[0], grouped: true}
	case len(parts) > 2:
		return spelling{word: word, group: strings.Join(parts[:len(parts)-2], "/"), version: parts[len(parts)-2], grouped: true}
	}
	word, group, grouped := strings.Cut(text, ".")
	return spelling{word: word, group: group, grouped: grouped}
}

// isVersion reports whether a text is the version of an API of Kubernetes' core: v1 and the like.
func isVersion(text string) bool {
	rest, found := strings.CutPrefix(text, "v")
	return found && rest != "" && unicode.IsDigit(rune(rest[0]))
}

func (s spelling) fits(k *kind) bool {
	return (s.word == k.Kind || s.word == k.plural) && (!s.grouped || s.group == k.Group)
}

// find returns the kind that is meant. The error says what to write instead.
func (known *kinds) find(text string) (*kind, error) {
	s := spell(text)
	var fitting []*kind
	for _, k := range known.all {
		switch {
		case s.fits(k) && string(k.name()) == text:
			return k, k.serves(s.version)
		case s.fits(k):
			fitting = append(fitting, k)
		}
	}
	if len(fitting) > 1 {
		fitting = slices.DeleteFunc(fitting, func(k *kind) bool { return k.Group == "extensions" })
	}
	switch len(fitting) {
	case 1:
		return fitting[0], fitting[0].serves(s.version)
	case 0:
		return known.guess(s, text)
	}
	var spellings []string
	for _, k := range fitting {
		spellings = append(spellings, fmt.Sprintf("objects(%q)", k.name()))
	}
	return nil, fmt.Errorf("%q is ambiguous: write %s", text, enumerate(spellings))
}

// serves returns an error if objects of the kind are not kept in a version.
func (k *kind) serves(version string) error {
	if version != "" && k.Version != "" && version != k.Version {
		return fmt.Errorf("objects of %s are looked at in version %s, not %s: write objects(%q)", k.name(), k.Version, version, k.name())
	}
	return nil
}

// guess returns a kind of a group of which nothing is known. Whatever may be a slip of the pen is refused, as all is
// true of the objects of a kind that does not exist.
func (known *kinds) guess(s spelling, text string) (*kind, error) {
	var here, everywhere, groups []string
	for _, k := range known.all {
		everywhere = append(everywhere, string(k.name()), k.plural)
		groups = append(groups, k.Group)
		if k.Group == s.group {
			here = append(here, string(k.name()))
		}
	}
	custom := `A kind that is not Kubernetes' own is written with its group, as in "Widget.example.com".`
	switch {
	case known.complete:
		return nil, fmt.Errorf("no kind is called %q%s", text, suggest(text, everywhere, ""))
	case !s.grouped:
		return nil, fmt.Errorf("no kind is called %q%s %s", text, suggest(text, everywhere, "."), custom)
	case len(here) > 0:
		return nil, fmt.Errorf("there is no kind %q in the group %q%s", s.word, s.group, suggest(text, here, ""))
	case !strings.Contains(s.group, "."), slices.ContainsFunc(groups, func(g string) bool { return typo.Distance(g, s.group) <= 3 }):
		return nil, fmt.Errorf("there is no group %q%s", s.group, suggest(s.group, groups, ""))
	case s.word == "" || !unicode.IsUpper(rune(s.word[0])):
		return nil, fmt.Errorf("the kind %q is unknown. %s", text, custom)
	}
	gvk := schema.GroupVersionKind{Group: s.group, Version: s.version, Kind: s.word}
	return &kind{GroupVersionKind: gvk, shape: func(*shapes) *shape { return anything() }}, nil
}

// called reports whether there are kinds whose plural is a word.
func (known *kinds) called(word string) bool {
	return slices.ContainsFunc(known.all, func(k *kind) bool { return k.plural == word })
}

// suggest asks whether a similar name is meant, as the end of a sentence, and returns otherwise if there is none.
func suggest(name string, names []string, otherwise string) string {
	nearest := typo.Nearest(name, names)
	if nearest == "" {
		return otherwise
	}
	return fmt.Sprintf(": did you mean %s?", nearest)
}

// enumerate lists texts: "a, b or c".
func enumerate(texts []string) string {
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	last := len(texts) - 1
	return strings.Join(texts[:last], ", ") + " or " + texts[last]
}

// Kind returns the kind that is meant by a word, in any of the ways in which an expression can write it. The error says
// what to write instead.
func (t Types) Kind(text string) (core.Kind, error) {
	known, err := t.kinds()
	if err != nil {
		return "", err
	}
	k, err := known.find(text)
	if err != nil {
		return "", err
	}
	return k.name(), nil
}
