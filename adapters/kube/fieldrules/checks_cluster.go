package fieldrules

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// selectedLabels wants a ReplicationController to select the Pods that it makes.
func selectedLabels(f found) field.ErrorList {
	spec, _ := f.value.(map[string]any)
	labels := object(spec, "template", "metadata", "labels")
	for name, value := range object(spec, "selector") {
		if labels[name] != value {
			return list(field.Invalid(f.path.Child("template", "metadata", "labels"), labels, "`selector` does not match template `labels`"))
		}
	}
	return nil
}

// rollingUpdate wants a Deployment to be allowed to do something.
func rollingUpdate(f found) field.ErrorList {
	rolling, _ := f.value.(map[string]any)
	none := func(name string) bool {
		value := text(orEmpty(rolling[name]))
		return strings.Trim(strings.TrimSuffix(value, "%"), "0") == ""
	}
	if none("maxUnavailable") && none("maxSurge") {
		return list(field.Invalid(f.path.Child("maxUnavailable"), rolling["maxUnavailable"], "may not be 0 when `maxSurge` is 0"))
	}
	return nil
}

// tokensOfVolumes wants a Pod that is given a token to say whose.
func tokensOfVolumes(f found) field.ErrorList {
	spec, _ := f.value.(map[string]any)
	if !empty(spec["serviceAccountName"]) {
		return nil
	}
	var errs field.ErrorList
	for i, volume := range objects(spec["volumes"]) {
		for j, source := range objects(object(volume, "projected")["sources"]) {
			if source["serviceAccountToken"] != nil {
				errs = append(errs, field.Forbidden(f.path.Child("volumes").Index(i).Child("projected", "sources").Index(j).Child("serviceAccountToken"),
					"must not be specified when serviceAccountName is not set"))
			}
		}
	}
	return errs
}

// families are the families of some addresses, in order.
func families(addresses []any) []string {
	var all []string
	for _, address := range addresses {
		family := "IPv4"
		if strings.Contains(text(address), ":") {
			family = "IPv6"
		}
		all = append(all, family)
	}
	return all
}

// addressesOf returns the addresses in a list of objects that have one each.
func addressesOf(value any) []any {
	var all []any
	for _, item := range objects(value) {
		all = append(all, orEmpty(item["ip"]))
	}
	return all
}

// addressesOfPod wants one address of each family.
func addressesOfPod(f found) field.ErrorList {
	all := addressesOf(f.value)
	if of := families(all); len(of) > 2 || len(of) == 2 && of[0] == of[1] {
		return list(field.Invalid(f.path, all, "may specify no more than one IP for each IP family"))
	}
	return nil
}

// addressesOfHost wants, besides, the first one to be the one that has a field of its own.
func addressesOfHost(f found) field.ErrorList {
	errs := addressesOfPod(f)
	if all := addressesOf(f.value); len(all) > 0 && all[0] != orEmpty(f.in.object["hostIP"]) {
		errs = append(errs, field.Invalid(f.path.Index(0).Child("ip"), all[0], "must be equal to `hostIP`"))
	}
	return errs
}

// oneOfEachFamily wants two addresses, or ranges of them, to be of two families.
func oneOfEachFamily(f found) field.ErrorList {
	all, _ := f.value.([]any)
	if of := families(all); len(of) == 2 && of[0] == of[1] {
		return list(field.Invalid(f.path, all, "may specify no more than one for each IP family"))
	}
	return nil
}

// serviceAddresses wants the addresses of a Service to go together with each other and with
// their families.
func serviceAddresses(f found) field.ErrorList {
	spec, _ := f.value.(map[string]any)
	at := f.path.Child("clusterIPs")
	all, _ := spec["clusterIPs"].([]any)
	first := text(orEmpty(spec["clusterIP"]))
	wanted, _ := spec["ipFamilies"].([]any)
	external := isOne(spec, "type", "ExternalName")
	var errs field.ErrorList
	if external {
		for _, name := range []string{"ipFamilies", "ipFamilyPolicy"} {
			if !empty(spec[name]) {
				errs = append(errs, field.Forbidden(f.path.Child(name), "may not be set for ExternalName services"))
			}
		}
		return errs
	}
	switch {
	case first == "" && len(all) > 0:
		errs = append(errs, field.Invalid(at, all, "must be empty when `clusterIP` is not specified"))
	case first != "" && len(all) > 0 && text(all[0]) != first:
		errs = append(errs, field.Invalid(at, all, "first value must match `clusterIP`"))
	}
	seen := map[any]bool{}
	for i, family := range wanted {
		if family != "IPv4" && family != "IPv6" {
			errs = append(errs, field.NotSupported(f.path.Child("ipFamilies").Index(i), text(family), []string{"IPv4", "IPv6"}))
		}
		if seen[family] {
			errs = append(errs, field.Duplicate(f.path.Child("ipFamilies").Index(i), family))
		}
		seen[family] = true
	}
	policies := []string{"PreferDualStack", "RequireDualStack", "SingleStack"}
	if policy := spec["ipFamilyPolicy"]; policy != nil && !slices.Contains(policies, text(policy)) {
		errs = append(errs, field.NotSupported(f.path.Child("ipFamilyPolicy"), text(policy), policies))
	}
	if first == "None" && len(all) > 1 {
		return append(errs, field.Invalid(at, all, "'None' must be the first and only value"))
	}
	wrong := 0
	for i, address := range all {
		if i == 0 && address == "None" {
			return errs
		}
		bad := ipAddress(address, at.Index(i))
		wrong += len(bad)
		errs = append(errs, bad...)
	}
	if len(all) > 2 {
		errs = append(errs, field.Invalid(at, all, "may only hold up to 2 values"))
	}
	if wrong > 0 {
		return errs
	}
	if of := families(all); len(all) == 2 && of[0] == of[1] {
		errs = append(errs, field.Invalid(at, all, "may specify no more than one IP for each IP family"))
	} else {
		for i, family := range of {
			if i < len(wanted) && family != wanted[i] {
				errs = append(errs, field.Invalid(at.Index(i), all[i], "expected an address of the family that `ipFamilies` says"))
			}
		}
	}
	return errs
}

// externalTraffic wants only Services that can be reached from outside to say how.
func externalTraffic(f found) field.ErrorList {
	spec, _ := f.value.(map[string]any)
	reachable := isOne(spec, "type", "NodePort", "LoadBalancer") || isOne(spec, "type", "ClusterIP") && !empty(spec["externalIPs"])
	policy := text(orEmpty(spec["externalTrafficPolicy"]))
	at := f.path.Child("externalTrafficPolicy")
	var errs field.ErrorList
	switch known := []string{"Cluster", "Local"}; {
	case !reachable && policy != "":
		errs = append(errs, field.Invalid(at, policy, "may only be set for externally-accessible services"))
	case reachable && policy == "":
		errs = append(errs, field.Required(at, ""))
	case reachable && !slices.Contains(known, policy):
		errs = append(errs, field.NotSupported(at, policy, known))
	}
	port := spec["healthCheckNodePort"]
	if !empty(port) && (!isOne(spec, "type", "LoadBalancer") || policy != "Local") {
		errs = append(errs, field.Invalid(f.path.Child("healthCheckNodePort"), port, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"))
	}
	return errs
}

// topologies wants no two equal ones.
func topologies(f found) field.ErrorList {
	terms := objects(f.in.object["allowedTopologies"])
	normal := func(term map[string]any) map[string][]string {
		all := map[string][]string{}
		for _, expression := range objects(term["matchLabelExpressions"]) {
			values, _ := expression["values"].([]any)
			of := []string{}
			for _, value := range values {
				of = append(of, text(value))
			}
			slices.Sort(of)
			all[text(orEmpty(expression["key"]))] = of
		}
		return all
	}
	var errs field.ErrorList
	for i, term := range terms {
		at := field.NewPath("allowedTopologies").Index(i).Child("matchLabelExpressions")
		same := func(other map[string]any) bool { return reflect.DeepEqual(normal(other), normal(term)) }
		if empty(term["matchLabelExpressions"]) || slices.ContainsFunc(terms[:i], same) {
			errs = append(errs, field.Duplicate(at, ""))
		}
	}
	return errs
}

func quota(f found) field.ErrorList {
	hard, _ := f.value.(map[string]any)
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(hard)) {
		errs = append(errs, resourceName(name, ofQuota, f.path.Key(name))...)
		errs = append(errs, resourceAmount(name, hard[name], f.path.Key(name))...)
	}
	return errs
}

// quotaScopes wants the scopes of a quota to go together, and with what is limited.
func quotaScopes(f found) field.ErrorList {
	spec, _ := f.value.(map[string]any)
	scopes, _ := spec["scopes"].([]any)
	var errs field.ErrorList
	check := func(scopes []any, at *field.Path) {
		for _, pair := range [][]any{{"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"}} {
			if slices.Contains(scopes, pair[0]) && slices.Contains(scopes, pair[1]) {
				errs = append(errs, field.Invalid(at, scopes, "conflicting scopes"))
			}
		}
		for _, scope := range scopes {
			for name := range object(spec, "hard") {
				if len(resourceName(name, ofQuota, nil)) == 0 && isNative(name) && !inScope(text(orEmpty(scope)), name) {
					errs = append(errs, field.Invalid(at, scopes, "unsupported scope applied to resource"))
				}
			}
		}
	}
	check(scopes, f.path.Child("scopes"))
	var selected []any
	for _, requirement := range objects(object(spec, "scopeSelector")["matchExpressions"]) {
		selected = append(selected, requirement["scopeName"])
	}
	check(selected, f.path.Child("scopeSelector", "matchExpressions"))
	return errs
}

// inScope reports whether a resource can be limited for what a scope is about.
func inScope(scope, name string) bool {
	compute := []string{"cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"}
	switch scope {
	case "Terminating", "NotTerminating", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity":
		return name == "pods" || slices.Contains(compute, name)
	case "BestEffort":
		return name == "pods"
	case "VolumeAttributesClass":
		return name == "persistentvolumeclaims" || name == "requests.storage"
	}
	return true
}

// limits wants the limits of a LimitRange to be ones that something can keep to.
func limits(f found) field.ErrorList {
	item := f.in.object
	kind := ofLimitRange
	if isOne(item, "type", "Pod", "Container") {
		kind = ofContainer
	}
	lists := []string{"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"}
	names := map[string]bool{}
	var errs field.ErrorList
	for _, list := range lists {
		for _, name := range slices.Sorted(maps.Keys(object(item, list))) {
			errs = append(errs, resourceName(name, kind, child(f.path, list).Key(name))...)
			names[name] = true
		}
	}
	if isOne(item, "type", "PersistentVolumeClaim") && object(item, "min")["storage"] == nil && object(item, "max")["storage"] == nil {
		errs = append(errs, field.Required(child(f.path, "limits"), "either minimum or maximum storage value is required, but neither was provided"))
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		ordered := func(less, more string) {
			smaller, isSmaller := object(item, less)[name]
			larger, isLarger := object(item, more)[name]
			a, b := quantityOf(smaller), quantityOf(larger)
			if isSmaller && isLarger && a.Cmp(b) > 0 {
				errs = append(errs, field.Invalid(child(f.path, less).Key(name), a.String(), less+" value "+a.String()+" is greater than "+more+" value "+b.String()))
			}
		}
		ordered("min", "max")
		ordered("min", "defaultRequest")
		ordered("defaultRequest", "max")
		ordered("defaultRequest", "default")
		ordered("min", "default")
		ordered("default", "max")
		ratio, found := object(item, "maxLimitRequestRatio")[name]
		if q := quantityOf(ratio); found && q.MilliValue() < 1000 {
			errs = append(errs, field.Invalid(child(f.path, "maxLimitRequestRatio").Key(name), q.String(), "ratio "+q.String()+" is less than 1"))
		}
	}
	return errs
}
