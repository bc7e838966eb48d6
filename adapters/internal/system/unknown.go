package system

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
)

// Unknown says which kind or resource a run has asked for that the API server does not have, if that is why it fails.
// Where the check leaves out a definition, that is no mistake of the controller; and one that copes with missing
// definitions does not fail.
func Unknown(err error) (asked, remedy string, unknown bool) {
	var kind *meta.NoKindMatchError
	var resource *meta.NoResourceMatchError
	switch {
	case errors.As(err, &kind):
		asked = fmt.Sprintf("kind %s of %s", kind.GroupKind.Kind, kind.GroupKind.Group)
	case errors.As(err, &resource):
		asked = "resource " + resource.PartialResource.GroupResource().String()
	default:
		return "", "", false
	}
	return asked, "the API server of the check does not know it: add its custom resource definition with CRDs, or its Go type to the scheme", true
}
