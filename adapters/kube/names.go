package kube

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
)

// A generated name ends in five characters: two that name the owners of the
// object, as a stand-in for its creator, and three for the smallest number that
// is free, in digits as long as there are some. So the names do not depend on the order in which controllers create
// objects for different owners.
const (
	maxNameLength  = 63
	suffixLength   = 5
	maxNumber      = 999
	ownerAlphabet  = "bcdfghjklmnpqrstvwxz"
	maxGenerateLen = maxNameLength - suffixLength
)

// generateName returns a name for an object that has only a generateName.
func (op *operation) generateName(object *unstructured.Unstructured) (string, error) {
	base := generatedBase(object.GetGenerateName())
	base += ownerLetters(base, object.GetOwnerReferences())
	for number := 1; ; number++ {
		name, left := generatedName(base, number)
		if !left {
			return "", fmt.Errorf("there are %d objects with names generated from %q, and no more are modelled: see why the controller makes so many, or lower the bound on the depth", number-1, object.GetGenerateName())
		}
		if op.find(op.key(name)) == nil {
			return name, nil
		}
	}
}

// generatedName returns the name of a number, and false if there is none left: after three digits come three letters.
func generatedName(base string, number int) (string, bool) {
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

// generatedBase is what of a generateName is in the names made from it.
func generatedBase(generateName string) string {
	return generateName[:min(len(generateName), maxGenerateLen)]
}

// ownerLetters are two letters that depend on what an object is owned by. An owner whose name the base begins with is
// named by what follows, so that a generated name is renamed as its base is.
func ownerLetters(base string, owners []metav1.OwnerReference) string {
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

// generatedFrom returns the generateName if the name looks like made from it.
func generatedFrom(name, generateName string) (string, bool) {
	base := generatedBase(generateName)
	return base, base != "" && len(name) == len(base)+suffixLength && strings.HasPrefix(name, base)
}

// nameRule is the rule for names of a kind, besides that a name is a path segment.
func nameRule(r *kinds.Resource) validation.ValidateNameFunc {
	switch r.Name {
	case kinds.Namespace:
		return validation.ValidateNamespaceName
	case kinds.Service, "StatefulSet.apps":
		return validation.NameIsDNSLabel
	case "ClusterRole.rbac.authorization.k8s.io", "ClusterRoleBinding.rbac.authorization.k8s.io",
		"Role.rbac.authorization.k8s.io", "RoleBinding.rbac.authorization.k8s.io",
		"Event", kinds.Budget, kinds.SigningRequest, "APIService.apiregistration.k8s.io":
		return path.ValidatePathSegmentName
	}
	return validation.NameIsDNSSubdomain
}
