package storage

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A generated name ends in five characters: two that name the owners of the
// object, as a stand-in for its creator, and three for the smallest number that
// is free, in digits as long as there are some. So the names do not depend on the order in which controllers create
// objects for different owners.
const (
	maxNameLength  = 63
	SuffixLength   = 5
	maxNumber      = 999
	ownerAlphabet  = "bcdfghjklmnpqrstvwxz"
	maxGenerateLen = maxNameLength - SuffixLength
)

// GeneratedName returns the name of a number, and false if there is none left: after three digits come three letters.
func GeneratedName(base string, number int) (string, bool) {
	if number <= maxNumber {
		return fmt.Sprintf("%s%03d", base, number), true
	}
	number -= maxNumber + 1
	const letters = len(ownerAlphabet)
	if number >= letters*letters*letters {
		return "", false
	}
	end := []byte{ownerAlphabet[number/letters/letters], ownerAlphabet[number/letters%letters], ownerAlphabet[number%letters]}
	return base + string(end), true
}

// GeneratedBase is what of a generateName is in the names made from it.
func GeneratedBase(generateName string) string {
	return generateName[:min(len(generateName), maxGenerateLen)]
}

// OwnerLetters are two letters that depend on what an object is owned by. An owner whose name the base begins with is
// named by what follows, so that a generated name is renamed as its base is.
func OwnerLetters(base string, owners []metav1.OwnerReference) string {
	hash := sha256.New()
	for _, owner := range owners {
		name := strings.TrimPrefix(base, owner.Name+"-")
		if name == base {
			name = owner.Name
		}
		fmt.Fprintf(hash, "%s %s %s\n", owner.APIVersion, owner.Kind, name)
	}
	sum := hash.Sum(nil)
	letter := func(b byte) byte { return ownerAlphabet[int(b)%len(ownerAlphabet)] }
	return string([]byte{letter(sum[0]), letter(sum[1])})
}

// GeneratedFrom returns the generateName if the name looks like made from it.
func GeneratedFrom(name, generateName string) (string, bool) {
	base := GeneratedBase(generateName)
	return base, base != "" && len(name) == len(base)+SuffixLength && strings.HasPrefix(name, base)
}

// Generated reports whether a name looks like one that the server has generated. An object may not say any more from
// what: who writes it anew mostly leaves that out.
func Generated(name, generateName string) bool {
	if generateName != "" {
		_, made := GeneratedFrom(name, generateName)
		return made
	}
	return endsGenerated.MatchString(name)
}

// generatedEnd is what generated names end with, as a regular expression, and endsGenerated matches names that do.
const generatedEnd = `[` + ownerAlphabet + `]{2}[0-9]{3}`

var endsGenerated = regexp.MustCompile(`.` + generatedEnd + `$`)
