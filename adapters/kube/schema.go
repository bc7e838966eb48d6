package kube

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	structuralcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	structurallisttype "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	structuralobjectmeta "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	structuralpruning "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// schemaOf is the schema of one version of a custom resource.
type schemaOf struct {
	structural *structuralschema.Structural
	validator  validation.SchemaValidator
	// rules are the schema's CEL rules, nil if it has none.
	rules *structuralcel.Validator
}

// newSchema reads the schema of a custom resource definition.
func newSchema(props *apiextensionsv1.JSONSchemaProps) (*schemaOf, error) {
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(props, internal, nil); err != nil {
		return nil, fmt.Errorf("the schema cannot be read: %w", err)
	}
	structural, err := structuralschema.NewStructural(internal)
	if err != nil {
		return nil, fmt.Errorf("the schema is not structural: %w", err)
	}
	if errs := structuralschema.ValidateStructural(nil, structural); len(errs) > 0 {
		return nil, fmt.Errorf("the schema is not structural: %w", errs.ToAggregate())
	}
	validator, _, err := validation.NewSchemaValidator(internal)
	if err != nil {
		return nil, fmt.Errorf("the schema cannot be used for validation: %w", err)
	}
	return &schemaOf{
		structural: structural,
		validator:  validator,
		rules:      structuralcel.NewValidator(structural, true, celconfig.PerCallLimit),
	}, nil
}

// fill drops the fields of the tree that the schema does not know, and sets
// those that it has defaults for.
func (s *schemaOf) fill(tree map[string]any) error {
	if err := structuralobjectmeta.Coerce(nil, tree, s.structural, true, false); err != nil {
		return err
	}
	structuralpruning.Prune(tree, s.structural, true)
	structuraldefaulting.PruneNonNullableNullsWithoutDefaults(tree, s.structural)
	structuraldefaulting.Default(tree, s.structural)
	return nil
}

// validate returns what the schema has against the tree. old is the tree before
// an update, nil for a create.
func (s *schemaOf) validate(tree, old map[string]any) field.ErrorList {
	var errs field.ErrorList
	var before any
	if old == nil {
		errs = append(errs, validation.ValidateCustomResource(nil, tree, s.validator)...)
	} else {
		before = old
		errs = append(errs, validation.ValidateCustomResourceUpdate(nil, tree, old, s.validator)...)
	}
	errs = append(errs, structurallisttype.ValidateListSetsAndMaps(nil, s.structural, tree)...)
	if s.rules != nil && len(errs) == 0 {
		broken, _ := s.rules.Validate(context.Background(), nil, s.structural, tree, before, celconfig.RuntimeCELCostBudget)
		errs = append(errs, broken...)
	}
	return errs
}
