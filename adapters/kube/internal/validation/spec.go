package validation

import (
	"encoding/json"
	"maps"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
)

// validateSpec returns what is wrong with what is wanted of an object of one of
// Kubernetes' own kinds, which is a new one or not: what the tables of fieldrules have against it, and
// what takes more to find out. typed is the object as its Go type, nil to read it from the
// tree.
func validateSpec(r *kinds.Resource, object *unstructured.Unstructured, typed runtime.Object, isNew bool) field.ErrorList {
	errs := validateTyped(r, object, typed)
	told := map[string]bool{}
	for _, err := range errs {
		told[string(err.Type)+" "+err.Field] = true
	}
	for _, err := range r.Fields.Validate(object.Object, isNew) {
		if !told[string(err.Type)+" "+err.Field] {
			errs = append(errs, err)
		}
	}
	return errs
}

// validateTyped returns what the functions for a kind have against an object.
func validateTyped(r *kinds.Resource, object *unstructured.Unstructured, typed runtime.Object) field.ErrorList {
	validate := specValidator(r)
	if validate == nil {
		return nil
	}
	if typed != nil {
		return validate(typed)
	}
	typed, err := r.NewTyped()
	if err == nil {
		err = jsontree.Into(object.Object, typed)
	}
	if err != nil {
		panic("kube: a decoded " + r.Kind + " cannot be read: " + err.Error())
	}
	return validate(typed)
}

// notNegative checks an optional number.
func notNegative[T int32 | int64](n *T, path *field.Path) field.ErrorList {
	if n == nil {
		return nil
	}
	return validation.ValidateNonnegativeField(int64(*n), path)
}

// validateLabelName checks the name of a part of an object.
func validateLabelName(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	var errs field.ErrorList
	for _, message := range utilvalidation.IsDNS1123Label(name) {
		errs = append(errs, field.Invalid(path, name, message))
	}
	return errs
}

func validateConfigMap(c *corev1.ConfigMap) field.ErrorList {
	errs := validateKeys(c.Data, field.NewPath("data"))
	for _, key := range slices.Sorted(maps.Keys(c.Data)) {
		if _, twice := c.BinaryData[key]; twice {
			errs = append(errs, field.Invalid(field.NewPath("data").Key(key), key, "duplicate of key present in binaryData"))
		}
	}
	errs = append(errs, validateKeys(c.BinaryData, field.NewPath("binaryData"))...)
	if sizeOf(c.Data)+sizeOf(c.BinaryData) > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(field.NewPath(""), "", corev1.MaxSecretSize))
	}
	return errs
}

func sizeOf[T string | []byte](data map[string]T) int {
	size := 0
	for _, value := range data {
		size += len(value)
	}
	return size
}

func validateKeys[T any](data map[string]T, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(data)) {
		for _, message := range utilvalidation.IsConfigMapKey(key) {
			errs = append(errs, field.Invalid(path.Key(key), key, message))
		}
	}
	return errs
}

func validateSecret(s *corev1.Secret) field.ErrorList {
	data := field.NewPath("data")
	errs := validateKeys(s.Data, data)
	if sizeOf(s.Data) > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(data, "", corev1.MaxSecretSize))
	}
	has := func(key string) bool { return s.Data[key] != nil }
	require := func(keys ...string) {
		for _, key := range keys {
			errs = append(errs, field.Required(data.Key(key), ""))
		}
	}
	switch s.Type {
	case corev1.SecretTypeServiceAccountToken:
		if s.Annotations[corev1.ServiceAccountNameKey] == "" {
			errs = append(errs, field.Required(field.NewPath("metadata", "annotations").Key(corev1.ServiceAccountNameKey), ""))
		}
	case corev1.SecretTypeDockercfg:
		errs = append(errs, validateDockerConfig(s, corev1.DockerConfigKey)...)
	case corev1.SecretTypeDockerConfigJson:
		errs = append(errs, validateDockerConfig(s, corev1.DockerConfigJsonKey)...)
	case corev1.SecretTypeBasicAuth:
		if !has(corev1.BasicAuthUsernameKey) && !has(corev1.BasicAuthPasswordKey) {
			require(corev1.BasicAuthUsernameKey, corev1.BasicAuthPasswordKey)
		}
	case corev1.SecretTypeSSHAuth:
		if len(s.Data[corev1.SSHAuthPrivateKey]) == 0 {
			require(corev1.SSHAuthPrivateKey)
		}
	case corev1.SecretTypeTLS:
		for _, key := range []string{corev1.TLSCertKey, corev1.TLSPrivateKeyKey} {
			if !has(key) {
				require(key)
			}
		}
	}
	return errs
}

// validateDockerConfig checks that a Secret has the credentials for a registry, as JSON.
func validateDockerConfig(s *corev1.Secret, key string) field.ErrorList {
	path := field.NewPath("data").Key(key)
	config, found := s.Data[key]
	if !found {
		return field.ErrorList{field.Required(path, "")}
	}
	var fields map[string]any
	if err := json.Unmarshal(config, &fields); err != nil {
		return field.ErrorList{field.Invalid(path, "<secret contents redacted>", err.Error())}
	}
	return nil
}

func validateLease(l *coordinationv1.Lease) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if n := l.Spec.LeaseDurationSeconds; n != nil && *n <= 0 {
		errs = append(errs, field.Invalid(spec.Child("leaseDurationSeconds"), *n, "must be greater than 0"))
	}
	if n := l.Spec.LeaseTransitions; n != nil && *n < 0 {
		errs = append(errs, field.Invalid(spec.Child("leaseTransitions"), *n, "must be greater than or equal to 0"))
	}
	return errs
}

func validateService(s *corev1.Service) field.ErrorList {
	spec := field.NewPath("spec")
	headless := s.Spec.ClusterIP == corev1.ClusterIPNone
	var errs field.ErrorList
	if len(s.Spec.Ports) == 0 && !headless && s.Spec.Type != corev1.ServiceTypeExternalName {
		errs = append(errs, field.Required(spec.Child("ports"), ""))
	}
	switch s.Spec.Type {
	case corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort:
		if headless {
			errs = append(errs, field.Invalid(spec.Child("clusterIPs").Index(0), s.Spec.ClusterIP, "may not be set to 'None' for "+string(s.Spec.Type)+" services"))
		}
	case corev1.ServiceTypeExternalName:
		if len(s.Spec.ClusterIPs) > 0 {
			errs = append(errs, field.Forbidden(spec.Child("clusterIPs"), "may not be set for ExternalName services"))
		}
		if s.Spec.ExternalName == "" {
			errs = append(errs, field.Required(spec.Child("externalName"), ""))
		}
	}
	errs = append(errs, validateServicePorts(s.Spec.Ports, spec.Child("ports"))...)
	errs = append(errs, metav1validation.ValidateLabels(s.Spec.Selector, spec.Child("selector"))...)
	if known := []corev1.ServiceAffinity{corev1.ServiceAffinityClientIP, corev1.ServiceAffinityNone}; !slices.Contains(known, s.Spec.SessionAffinity) {
		errs = append(errs, field.NotSupported(spec.Child("sessionAffinity"), s.Spec.SessionAffinity, known))
	}
	types := []corev1.ServiceType{corev1.ServiceTypeClusterIP, corev1.ServiceTypeExternalName, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort}
	if !slices.Contains(types, s.Spec.Type) {
		errs = append(errs, field.NotSupported(spec.Child("type"), s.Spec.Type, types))
	}
	for i, p := range s.Spec.Ports {
		if s.Spec.Type == corev1.ServiceTypeClusterIP && p.NodePort != 0 {
			errs = append(errs, field.Forbidden(spec.Child("ports").Index(i).Child("nodePort"), "may not be used when `type` is 'ClusterIP'"))
		}
	}
	return errs
}

// validateTargetPort checks the number or the name of a port of a Pod.
func validateTargetPort(port intstr.IntOrString, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if port.Type == intstr.String {
		for _, message := range utilvalidation.IsValidPortName(port.StrVal) {
			errs = append(errs, field.Invalid(path, port.StrVal, message))
		}
		return errs
	}
	for _, message := range utilvalidation.IsValidPortNum(port.IntValue()) {
		errs = append(errs, field.Invalid(path, port.IntValue(), message))
	}
	return errs
}

func validateServicePorts(ports []corev1.ServicePort, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := map[string]bool{}
	for i, p := range ports {
		at := path.Index(i)
		if p.Name != "" || len(ports) > 1 {
			errs = append(errs, validateLabelName(p.Name, at.Child("name"))...)
			if p.Name != "" && names[p.Name] {
				errs = append(errs, field.Duplicate(at.Child("name"), p.Name))
			}
			names[p.Name] = true
		}
		for _, message := range utilvalidation.IsValidPortNum(int(p.Port)) {
			errs = append(errs, field.Invalid(at.Child("port"), p.Port, message))
		}
		errs = append(errs, validateTargetPort(p.TargetPort, at.Child("targetPort"))...)
	}
	seen := map[corev1.ServicePort]bool{}
	for i, p := range ports {
		key := corev1.ServicePort{Protocol: p.Protocol, Port: p.Port}
		if seen[key] {
			errs = append(errs, field.Duplicate(path.Index(i), key))
		}
		seen[key] = true
	}
	return errs
}
