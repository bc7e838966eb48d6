package canonical

import (
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/plaintext"
	"github.com/orrery-dev/orrery/adapters/kube/internal/randomness"
	"github.com/orrery-dev/orrery/core"
)

// drawnWord and goneWord are what words have in common that were drawn, and those that are gone; hashWord is what the
// hashes of templates have.
const drawnWord, goneWord, hashWord = "<random>", "<random, gone>", "<template hash>"

// findWords finds the words in the outcome that were drawn. Where they are encoded, texts are as [plaintext.Of] has
// them from then on. A word that follows from one which is gone, such as the checksum of a password that was replaced,
// is another one than what follows from those that are there.
func (p *parser) findWords(source *randomness.Source) {
	find := func(text string) bool {
		words := source.Within(text)
		for _, word := range words {
			p.drawn[word] = true
		}
		return len(words) > 0
	}
	for key, fields := range p.outcome {
		find(key.Namespace)
		find(key.Name)
		p.outcome[key] = jsontree.Texts(fields, func(text string, name bool) string {
			if plain := plaintext.Of(text); find(plain) && !name {
				return plain
			}
			return text
		})
	}
	p.origins = map[string][]string{}
	follow := func(word string) {
		gone := slices.DeleteFunc(source.Origins(word), func(origin string) bool { return p.drawn[origin] })
		for _, origin := range gone {
			p.replaced[origin] = true
		}
		if len(gone) > 0 {
			p.origins[word] = gone
		}
	}
	for word := range p.drawn {
		follow(word)
	}
	for _, origin := range slices.Collect(maps.Keys(p.replaced)) {
		follow(origin)
	}
}

// findTemplateHashes finds the hashes by which ReplicaSets tell templates apart. Which they are says nothing: where the
// name is taken, such as by one of an earlier Deployment that is still being deleted, it is another one.
func (p *parser) findTemplateHashes() {
	for key, fields := range p.outcome {
		if key.Kind != kinds.ReplicaSet {
			continue
		}
		tree, _ := fields.(map[string]any)
		hash, _, _ := unstructured.NestedString(tree, "metadata", "labels", appsv1.DefaultDeploymentUniqueLabelKey)
		if hash != "" && strings.HasSuffix(key.Name, "-"+hash) {
			p.drawn[hash], p.hashes[hash] = true, true
		}
	}
}

// sign adds the signatures to texts that somebody has signed who is gone, see [randomness.Source.Signature].
func sign(outcome map[core.Key]any, source *randomness.Source) {
	if !source.Signs() {
		return
	}
	drawn := map[string]bool{}
	for _, fields := range outcome {
		jsontree.Texts(fields, func(text string, _ bool) string {
			for _, word := range source.In(text) {
				drawn[word] = true
			}
			return text
		})
	}
	for key, fields := range outcome {
		outcome[key] = jsontree.Texts(fields, func(text string, name bool) string {
			word := source.Signature(text)
			if name || !slices.ContainsFunc(source.Origins(word), func(origin string) bool { return !drawn[origin] }) {
				return text
			}
			return plaintext.Of(text) + " " + word
		})
	}
}
