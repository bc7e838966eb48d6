package kinds

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	structuralcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	structurallisttype "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	structuralobjectmeta "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	structuralpruning "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// Schema is the schema of one version of a custom resource.
type Schema struct {
	Structural *structuralschema.Structural
	// validator checks whole objects, and status only their status.
	validator, status validation.SchemaValidator
	// monotone tells that what is valid stays so if parts of it are taken to be valid.
	monotone bool
	// rules are the schema's CEL rules, nil if it has none.
	rules *structuralcel.Validator
}

// newSchema reads the schema of a custom resource definition.
func newSchema(props *apiextensionsv1.JSONSchemaProps) (*Schema, error) {
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
	ofStatus := internal.Properties["status"]
	status, _, err := validation.NewSchemaValidator(&ofStatus)
	if err != nil {
		return nil, fmt.Errorf("the schema of the status cannot be used for validation: %w", err)
	}
	return &Schema{
		Structural: structural,
		validator:  validator,
		status:     status,
		monotone:   !contradicts(internal),
		rules:      structuralcel.NewValidator(structural, true, celconfig.PerCallLimit),
	}, nil
}

// contradicts reports whether a schema, at any depth, wants something not to be valid.
func contradicts(s *apiextensions.JSONSchemaProps) bool {
	if s == nil {
		return false
	}
	if s.Not != nil || len(s.OneOf) > 0 {
		return true
	}
	below := slices.Concat(s.AllOf, s.AnyOf)
	for _, properties := range []map[string]apiextensions.JSONSchemaProps{s.Properties, s.PatternProperties, s.Definitions} {
		below = slices.AppendSeq(below, maps.Values(properties))
	}
	if s.Items != nil {
		below = append(below, s.Items.JSONSchemas...)
		if s.Items.Schema != nil {
			below = append(below, *s.Items.Schema)
		}
	}
	for _, more := range []*apiextensions.JSONSchemaPropsOrBool{s.AdditionalProperties, s.AdditionalItems} {
		if more != nil && more.Schema != nil {
			below = append(below, *more.Schema)
		}
	}
	return slices.ContainsFunc(below, func(s apiextensions.JSONSchemaProps) bool { return contradicts(&s) })
}

// fill drops the fields of the tree that the schema does not know, and sets
// those that it has defaults for.
func (s *Schema) fill(tree map[string]any) error {
	if err := structuralobjectmeta.Coerce(nil, tree, s.Structural, true, false); err != nil {
		return err
	}
	structuralpruning.Prune(tree, s.Structural, true)
	structuraldefaulting.PruneNonNullableNullsWithoutDefaults(tree, s.Structural)
	structuraldefaulting.Default(tree, s.Structural)
	return nil
}

// The functions below return the errors that they are given, and what else is wrong.

// ValidateCreate adds what the schema has against a new object.
func (s *Schema) ValidateCreate(errs field.ErrorList, tree map[string]any, scale *scalePaths) field.ErrorList {
	errs = append(errs, validation.ValidateCustomResource(nil, tree, s.validator)...)
	errs = append(errs, scale.validateWanted(tree)...)
	errs = append(errs, scale.validateActual(tree)...)
	errs = append(errs, s.validateEmbedded(tree)...)
	errs = append(errs, structurallisttype.ValidateListSetsAndMaps(nil, s.Structural, tree)...)
	return append(errs, s.checkRules(errs, tree, nil)...)
}

// ValidateUpdate adds what the schema has against the new form of an object. What was
// invalid before, and has not changed, is let pass.
func (s *Schema) ValidateUpdate(errs field.ErrorList, tree, old map[string]any, scale *scalePaths) field.ErrorList {
	both := common.NewCorrelatedObject(tree, old, &model.Structural{Structural: s.Structural})
	if !s.monotone || !s.validator.Validate(tree).IsValid() {
		errs = append(errs, validation.ValidateCustomResourceUpdate(nil, tree, old, s.validator, validation.WithRatcheting(both))...)
	}
	errs = append(errs, scale.validateWanted(tree)...)
	errs = append(errs, scale.validateActual(tree)...)
	errs = append(errs, s.validateEmbedded(tree)...)
	errs = append(errs, s.validateLists(tree, old)...)
	return append(errs, s.checkRules(errs, tree, old, structuralcel.WithRatcheting(both))...)
}

// validateEmbedded returns what is wrong with the metadata of embedded objects. Newer versions of
// the library want a context.
func (s *Schema) validateEmbedded(tree map[string]any) field.ErrorList {
	switch validate := any(structuralobjectmeta.Validate).(type) {
	case func(*field.Path, any, *structuralschema.Structural, bool) field.ErrorList:
		return validate(nil, tree, s.Structural, false)
	case func(context.Context, *field.Path, any, *structuralschema.Structural, bool) field.ErrorList:
		return validate(context.Background(), nil, tree, s.Structural, false)
	}
	panic("kube: validation of embedded objects has a form that is not known")
}

// ValidateStatus adds what the schema has against the new status of an object.
func (s *Schema) ValidateStatus(errs field.ErrorList, tree, old map[string]any, scale *scalePaths) field.ErrorList {
	both := common.NewCorrelatedObject(tree, old, &model.Structural{Structural: s.Structural})
	if status, ok := tree["status"]; ok && (!s.monotone || !s.status.Validate(status).IsValid()) {
		errs = append(errs, validation.ValidateCustomResourceUpdate(field.NewPath("status"), status, old["status"], s.status,
			validation.WithRatcheting(both.Key("status")))...)
	}
	errs = append(errs, scale.validateActual(tree)...)
	errs = append(errs, s.validateLists(tree, old)...)
	return append(errs, s.checkRules(errs, tree, old, structuralcel.WithRatcheting(both))...)
}

// validateLists checks that lists which are sets or maps have no duplicates, unless
// they had some before.
func (s *Schema) validateLists(tree, old map[string]any) field.ErrorList {
	if len(structurallisttype.ValidateListSetsAndMaps(nil, s.Structural, old)) > 0 {
		return nil
	}
	return structurallisttype.ValidateListSetsAndMaps(nil, s.Structural, tree)
}

// checkRules returns which CEL rules are broken. They are not asked about an object
// that is so wrong that they could not cope with it.
func (s *Schema) checkRules(errs field.ErrorList, tree, old map[string]any, options ...structuralcel.Option) field.ErrorList {
	if s.rules == nil {
		return nil
	}
	for _, err := range errs {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return field.ErrorList{field.Invalid(nil, nil,
				"some validation rules were not checked because the object was invalid; correct the existing errors to complete validation")}
		}
	}
	var before any
	if old != nil {
		before = old
	}
	broken, _ := s.rules.Validate(context.Background(), nil, s.Structural, tree, before, celconfig.RuntimeCELCostBudget, options...)
	return broken
}
