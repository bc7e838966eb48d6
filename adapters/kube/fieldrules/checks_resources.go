package fieldrules

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const hugePages = "hugepages-"

// resourceKind is what the name of a resource may be used for.
type resourceKind int

const (
	ofContainer resourceKind = iota
	ofPod
	ofLimitRange
	ofQuota
)

// resourceName wants the name of a resource that there can be.
func resourceName(name string, kind resourceKind, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, message := range utilvalidation.IsQualifiedName(name) {
		errs = append(errs, field.Invalid(at, name, message))
	}
	if len(errs) > 0 {
		return errs
	}
	plain := !strings.Contains(name, "/")
	ofAny := []string{
		"cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory", "requests.ephemeral-storage",
		"limits.cpu", "limits.memory", "limits.ephemeral-storage", "pods", "resourcequotas", "services",
		"replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims", "storage",
		"services.nodeports", "services.loadbalancers",
	}
	ofContainers := []string{"cpu", "memory", "ephemeral-storage"}
	huge := strings.HasPrefix(name, hugePages) || strings.HasPrefix(name, "requests."+hugePages)
	if plain && !slices.Contains(ofAny, name) && !huge && (kind != ofQuota || name != "requests.storage") {
		errs = append(errs, field.Invalid(at, name, "must be a standard resource type or fully qualified"))
	}
	switch {
	case kind == ofContainer && plain && !slices.Contains(ofContainers, name) && !strings.HasPrefix(name, hugePages):
		errs = append(errs, field.Invalid(at, name, "must be a standard resource for containers"))
	case kind == ofContainer && !plain && !isNative(name) && !isExtended(name):
		errs = append(errs, field.Invalid(at, name, "doesn't follow extended resource name standard"))
	case kind == ofPod && len(errs) == 0 && name != "cpu" && name != "memory" && !strings.HasPrefix(name, hugePages):
		errs = append(errs, field.NotSupported(at, name, []string{"cpu", hugePages, "memory"}))
	case kind == ofQuota && plain && name == "storage":
		errs = append(errs, field.Invalid(at, name, "must be a standard resource for quota"))
	}
	return errs
}

// isNative reports whether a resource is one of Kubernetes' own.
func isNative(name string) bool {
	return !strings.Contains(name, "/") || strings.Contains(name, "kubernetes.io/")
}

// isExtended reports whether somebody else defines a resource.
func isExtended(name string) bool {
	return !isNative(name) && !strings.HasPrefix(name, "requests.") && len(utilvalidation.IsQualifiedName("requests."+name)) == 0
}

// overcommits reports whether more of a resource may be allowed than is asked for.
func overcommits(name string) bool { return isNative(name) && !strings.HasPrefix(name, hugePages) }

// resourceAmount wants an amount that there can be of a resource.
func resourceAmount(name string, amount any, at *field.Path) field.ErrorList {
	q := quantityOf(amount)
	var errs field.ErrorList
	if q.Sign() < 0 {
		errs = append(errs, field.Invalid(at, q.String(), "must be greater than or equal to 0"))
	}
	whole := []string{
		"pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims",
		"services.nodeports", "services.loadbalancers",
	}
	if (slices.Contains(whole, name) || isExtended(name)) && q.MilliValue()%1000 != 0 {
		errs = append(errs, field.Invalid(at, q.String(), "must be an integer"))
	}
	if size, huge := strings.CutPrefix(name, hugePages); huge {
		page, err := apiresource.ParseQuantity(size)
		if err != nil || page.Sign() <= 0 || page.MilliValue()%1000 != 0 || q.Value()%page.Value() != 0 {
			errs = append(errs, field.Invalid(at, q.String(), fmt.Sprintf("%s is not positive integer multiple of %s", q.String(), name)))
		}
	}
	return errs
}

func containerResources(f found) field.ErrorList { return resourcesOf(f, ofContainer) }

func overhead(f found) field.ErrorList {
	f.value = map[string]any{"limits": f.value}
	return resourcesOf(f, ofContainer)
}

// resourcesOf checks what is asked for and what is allowed of resources.
func resourcesOf(f found, kind resourceKind) field.ErrorList {
	resources, _ := f.value.(map[string]any)
	limits, requests := object(resources, "limits"), object(resources, "requests")
	var errs field.ErrorList
	huge, computes := false, false
	each := func(list string, amounts map[string]any, visit func(name string, amount any)) {
		for _, name := range slices.Sorted(maps.Keys(amounts)) {
			at := f.path.Child(list).Key(name)
			errs = append(errs, resourceName(name, kind, at)...)
			errs = append(errs, resourceAmount(name, amounts[name], at)...)
			huge = huge || strings.HasPrefix(name, hugePages)
			computes = computes || name == "cpu" || name == "memory"
			visit(name, amounts[name])
		}
	}
	each("limits", limits, func(string, any) {})
	each("requests", requests, func(name string, amount any) {
		limit, limited := limits[name]
		most, asked := quantityOf(limit), quantityOf(amount)
		switch order := asked.Cmp(most); {
		case !limited && !overcommits(name):
			errs = append(errs, field.Required(f.path.Child("limits"), "Limit must be set for non overcommitable resources"))
		case !limited:
		case order != 0 && !overcommits(name):
			errs = append(errs, field.Invalid(f.path.Child("requests"), asked.String(), fmt.Sprintf("must be equal to %s limit of %s", name, most.String())))
		case order > 0:
			errs = append(errs, field.Invalid(f.path.Child("requests"), asked.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, most.String())))
		}
	})
	if huge && !computes {
		errs = append(errs, field.Forbidden(f.path, "HugePages require cpu or memory"))
	}
	return errs
}

// podResources checks the resources of a whole Pod: there is enough for its containers.
func podResources(f found) field.ErrorList {
	resources, _ := f.value.(map[string]any)
	var errs field.ErrorList
	if isOne(object(f.in.object, "os"), "name", "windows") {
		return list(field.Forbidden(f.path, "may not be set for a windows pod"))
	}
	if resources["claims"] != nil {
		errs = append(errs, field.Forbidden(f.path.Child("claims"), "claims may not be set for Resources at pod-level"))
	}
	errs = append(errs, resourcesOf(f, ofPod)...)
	limits := object(resources, "limits")
	spec := &corev1.PodSpec{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(f.in.object, spec); err != nil {
		return append(errs, field.InternalError(f.path, err))
	}
	errs = append(errs, enough(f.path, "requests", object(resources, "requests"), PodRequests(spec), func(string) bool { return true })...)
	errs = append(errs, enough(f.path, "limits", limits, PodLimits(spec), func(name string) bool { return strings.HasPrefix(name, hugePages) })...)
	for _, c := range containersOf(f.in.object, f.in.path) {
		own := object(c.fields, "resources", "limits")
		for _, name := range slices.Sorted(maps.Keys(own)) {
			most, limited := limits[name]
			limit, all := quantityOf(own[name]), quantityOf(most)
			if limited && !c.first && limit.Cmp(all) > 0 {
				errs = append(errs, field.Invalid(c.path.Key(name).Child("limits"), limit.String(), "must be less than or equal to pod limits of "+all.String()))
			}
		}
	}
	return errs
}

// enough wants a Pod to have as much as its containers need of the resources that count.
func enough(at *field.Path, list string, amounts map[string]any, needed corev1.ResourceList, counts func(name string) bool) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		amount, need := quantityOf(amounts[name]), needed[corev1.ResourceName(name)]
		if counts(name) && need.Cmp(amount) > 0 {
			errs = append(errs, field.Invalid(at.Child(list).Key(name), amount.String(), fmt.Sprintf("must be greater than or equal to aggregate container %s of %s", list, need.String())))
		}
	}
	return errs
}

// resourceClaims wants the claims of containers to be claims of the Pod.
func resourceClaims(f found) field.ErrorList {
	known := map[any]bool{}
	for _, claim := range objects(f.in.object["resourceClaims"]) {
		known[claim["name"]] = true
	}
	var errs field.ErrorList
	for _, c := range containersOf(f.in.object, f.path) {
		seen := map[string]bool{}
		for i, claim := range objects(object(c.fields, "resources")["claims"]) {
			at := c.path.Child("resources", "claims").Index(i)
			name, request := text(orEmpty(claim["name"])), text(orEmpty(claim["request"]))
			key := strings.TrimSuffix(name+"/"+request, "/")
			switch {
			case name == "":
				errs = append(errs, field.Required(at, ""))
				continue
			case seen[name] || seen[key] || request == "" && slices.ContainsFunc(slices.Collect(maps.Keys(seen)), ofClaim(name)):
				errs = append(errs, field.Duplicate(at, key))
			case request != "":
				errs = append(errs, formats()["dns-label"](request, at.Child("request"))...)
			}
			seen[key] = true
			if !known[name] {
				errs = append(errs, field.NotFound(at, name))
			}
		}
	}
	return errs
}

// ofClaim reports whether a key of a claim is about a request of the claim of a name.
func ofClaim(name string) func(key string) bool {
	return func(key string) bool { return strings.HasPrefix(key, name+"/") }
}

// containerResource wants an amount that a container can be told of, in a unit that fits.
func containerResource(f found) field.ErrorList {
	selector, _ := f.value.(map[string]any)
	name := text(orEmpty(selector["resource"]))
	at := f.path.Child("resource")
	known := []string{"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"}
	huge := strings.HasPrefix(name, "requests."+hugePages) || strings.HasPrefix(name, "limits."+hugePages)
	switch {
	case name == "":
		return list(field.Required(at, ""))
	case !huge && !slices.Contains(known, name):
		return list(field.NotSupported(at, name, known))
	}
	units := []string{"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}
	if strings.HasSuffix(name, ".cpu") {
		units = []string{"1m", "1"}
	}
	unit := quantityOf(selector["divisor"])
	if unit.IsZero() || slices.Contains(units, unit.String()) {
		return nil
	}
	return list(field.Invalid(f.path.Child("divisor"), name, "only divisor's values "+strings.Join(units, ", ")+" are supported with the resource"))
}
