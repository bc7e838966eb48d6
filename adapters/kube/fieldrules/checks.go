package fieldrules

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checks are the rules that take a function, because they compare more than one field, by
// their names.
func checks() map[string]func(found) field.ErrorList {
	return map[string]func(found) field.ErrorList{
		"addresses-of-host":          addressesOfHost,
		"addresses-of-pod":           addressesOfPod,
		"access-modes":               accessModes,
		"claim-size":                 claimSize,
		"container-names":            containerNames,
		"container-resource":         containerResource,
		"container-resources":        containerResources,
		"data-sources":               dataSources,
		"env-field":                  fieldReference("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
		"host-ports":                 hostPorts,
		"host-ports-of-host-network": hostNetworkPorts,
		"host-process":               hostProcess,
		"host-users":                 hostUsers,
		"match-label-keys":           matchLabelKeys,
		"mounts":                     mounts,
		"os":                         operatingSystem,
		"overhead":                   overhead,
		"pod-resources":              podResources,
		"privileges":                 privileges,
		"projected-paths":            projectedPaths,
		"resource-claims":            resourceClaims,
		"restart-of-containers":      restartOfContainers,
		"share-process-namespace":    sharedProcesses,
		"sleeps":                     sleeps,
		"external-traffic":           externalTraffic,
		"limits":                     limits,
		"one-of-each-family":         oneOfEachFamily,
		"quota":                      quota,
		"quota-scopes":               quotaScopes,
		"rolling-update":             rollingUpdate,
		"selected-labels":            selectedLabels,
		"service-addresses":          serviceAddresses,
		"tokens-of-volumes":          tokensOfVolumes,
		"topologies":                 topologies,
		"volume-capacity":            volumeCapacity,
		"volume-field":               fieldReference("metadata.name", "metadata.namespace", "metadata.labels", "metadata.annotations", "metadata.uid"),
		"mounted-volume":             mountedVolume,
		"device-volume":              deviceVolume,
		"file-volume":                fileVolume,
	}
}

// object returns the object that is at a path below another one, nil if there is none.
func object(in map[string]any, path ...string) map[string]any {
	for _, name := range path {
		in, _ = in[name].(map[string]any)
	}
	return in
}

// objects returns the objects in a list.
func objects(value any) []map[string]any {
	items, _ := value.([]any)
	all := make([]map[string]any, len(items))
	for i, item := range items {
		all[i], _ = item.(map[string]any)
	}
	return all
}

// isTrue reports whether a field is there and true.
func isTrue(in map[string]any, name string) bool {
	b, _ := in[name].(bool)
	return b
}

// isOne reports whether a field is one of some words.
func isOne(in map[string]any, name string, words ...string) bool {
	return slices.Contains(words, text(orEmpty(in[name])))
}

// container is a container of a Pod and where it is.
type container struct {
	fields map[string]any
	path   *field.Path
	// first tells that it runs before the others.
	first bool
}

// containersOf are all containers of a Pod's spec, those that run first last.
func containersOf(spec map[string]any, at *field.Path) []container {
	var all []container
	for i, c := range objects(spec["containers"]) {
		all = append(all, container{c, child(at, "containers").Index(i), false})
	}
	for i, c := range objects(spec["initContainers"]) {
		all = append(all, container{c, child(at, "initContainers").Index(i), true})
	}
	return all
}

func containerNames(f found) field.ErrorList {
	seen := map[any]bool{}
	var errs field.ErrorList
	for _, c := range containersOf(f.in.object, f.in.path) {
		if name := c.fields["name"]; seen[name] && name != "" {
			errs = append(errs, field.Duplicate(c.path.Child("name"), name))
		} else {
			seen[name] = true
		}
	}
	return errs
}

func hostPorts(f found) field.ErrorList {
	seen := map[string]bool{}
	var errs field.ErrorList
	for i, c := range objects(f.value) {
		for j, port := range objects(c["ports"]) {
			if empty(port["hostPort"]) {
				continue
			}
			key := fmt.Sprintf("%s/%s/%v", text(orEmpty(port["protocol"])), text(orEmpty(port["hostIP"])), port["hostPort"])
			if seen[key] {
				errs = append(errs, field.Duplicate(f.path.Index(i).Child("ports").Index(j).Child("hostPort"), key))
			}
			seen[key] = true
		}
	}
	return errs
}

// hostNetworkPorts wants the containers that use the network of their host to have the
// same ports there. In a template the one on the host may be left out.
func hostNetworkPorts(f found) field.ErrorList {
	if !isTrue(f.in.object, "hostNetwork") {
		return nil
	}
	var errs field.ErrorList
	for i, c := range objects(f.in.object["containers"]) {
		for j, port := range objects(c["ports"]) {
			inPod := f.in.outer != nil && f.in.outer.outer == nil
			if host := port["hostPort"]; (inPod || !empty(host)) && host != port["containerPort"] {
				errs = append(errs, field.Invalid(child(f.path, "containers").Index(i).Child("ports").Index(j).Child("hostPort"), host,
					"must match `containerPort` when `hostNetwork` is true"))
			}
		}
	}
	return errs
}

// hostUsers refuses what a Pod with users of its own cannot share with its host.
func hostUsers(f found) field.ErrorList {
	spec := f.in.object
	var errs field.ErrorList
	if spec["hostUsers"] != false {
		for _, c := range containersOf(spec, f.path) {
			if isOne(object(c.fields, "securityContext"), "procMount", "Unmasked") {
				errs = append(errs, field.Invalid(c.path.Child("securityContext", "procMount"), "Unmasked", "`hostUsers` must be false to use `Unmasked`"))
			}
		}
		return errs
	}
	for name, told := range map[string]string{"hostNetwork": "hostNetwork", "hostPID": "HostPID", "hostIPC": "HostIPC"} {
		if isTrue(spec, name) {
			errs = append(errs, field.Forbidden(child(f.path, told), "when `hostUsers` is false"))
		}
	}
	slices.SortFunc(errs, byField)
	return errs
}

// hostProcess wants a Pod with a process of its Windows host to consist of such ones, on
// the network of the host.
func hostProcess(f found) field.ErrorList {
	spec := f.in.object
	ofPod := object(spec, "securityContext", "windowsOptions")["hostProcess"]
	all := containersOf(spec, f.path)
	hosted := 0
	var errs field.ErrorList
	for _, c := range all {
		own := object(c.fields, "securityContext", "windowsOptions")["hostProcess"]
		if ofPod != nil && own != nil && own != ofPod {
			errs = append(errs, field.Invalid(c.path.Child("securityContext", "windowsOptions", "hostProcess"), own, "must be that of the pod"))
		}
		if own == true || own == nil && ofPod == true {
			hosted++
		}
	}
	if hosted == 0 {
		return errs
	}
	if hosted != len(all) {
		errs = append(errs, field.Invalid(f.path, "", "If pod contains any hostProcess containers then all containers must be HostProcess containers"))
	}
	if !isTrue(spec, "hostNetwork") {
		errs = append(errs, field.Invalid(child(f.path, "hostNetwork"), false, "hostNetwork must be true if pod contains any hostProcess containers"))
	}
	return append(errs, field.Forbidden(f.path, "hostProcess containers are disallowed by cluster policy"))
}

func sharedProcesses(f found) field.ErrorList {
	if !isTrue(f.in.object, "hostPID") || !isTrue(f.in.object, "shareProcessNamespace") {
		return nil
	}
	return list(field.Invalid(child(f.path, "securityContext").Child("shareProcessNamespace"), true, "ShareProcessNamespace and HostPID cannot both be enabled"))
}

// restartOfContainers wants no resizing that restarts a container in a Pod that never does.
func restartOfContainers(f found) field.ErrorList {
	if !isOne(f.in.object, "restartPolicy", "Never") {
		return nil
	}
	var errs field.ErrorList
	for _, c := range containersOf(f.in.object, f.path) {
		for _, policy := range objects(c.fields["resizePolicy"]) {
			if !isOne(policy, "restartPolicy", "NotRequired") {
				errs = append(errs, field.Invalid(c.path.Child("resizePolicy"), policy["restartPolicy"], "must be 'NotRequired' when pod `restartPolicy` is 'Never'"))
			}
		}
	}
	return errs
}

// sleeps wants hooks to sleep no longer than a Pod has to stop.
func sleeps(f found) field.ErrorList {
	grace, _ := f.in.object["terminationGracePeriodSeconds"].(int64)
	var errs field.ErrorList
	for _, c := range containersOf(f.in.object, f.path) {
		for _, hook := range []string{"postStart", "preStop"} {
			sleep := object(c.fields, "lifecycle", hook, "sleep")
			if seconds, _ := sleep["seconds"].(int64); sleep != nil && (seconds < 0 || seconds > grace) {
				errs = append(errs, field.Invalid(c.path.Child("lifecycle", hook, "sleep"), seconds,
					fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", grace)))
			}
		}
	}
	return errs
}

// operatingSystem wants the name of one that is known, and no options of another one.
func operatingSystem(f found) field.ErrorList {
	os, _ := f.value.(map[string]any)
	spec, at := f.in.object, f.in.path
	var foreign map[string][]string
	switch os["name"] {
	case "linux":
		foreign = map[string][]string{"securityContext": {"windowsOptions"}, "container": {"windowsOptions"}}
	case "windows":
		foreign = map[string][]string{
			"": {"hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"},
			"securityContext": {
				"appArmorProfile", "seLinuxOptions", "seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls",
				"runAsUser", "runAsGroup", "supplementalGroups", "supplementalGroupsPolicy", "seLinuxChangePolicy",
			},
			"container": {
				"appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged",
				"allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup",
			},
		}
	case "":
		return nil
	default:
		return list(field.NotSupported(f.path, text(orEmpty(os["name"])), []string{"linux", "windows"}))
	}
	var errs field.ErrorList
	refuse := func(in map[string]any, path *field.Path, names []string) {
		for _, name := range names {
			if value := in[name]; value != nil && value != false {
				errs = append(errs, field.Forbidden(child(path, name), fmt.Sprintf("cannot be set for a %s pod", os["name"])))
			}
		}
	}
	refuse(spec, at, foreign[""])
	refuse(object(spec, "securityContext"), child(at, "securityContext"), foreign["securityContext"])
	for _, c := range containersOf(spec, at) {
		refuse(object(c.fields, "securityContext"), c.path.Child("securityContext"), foreign["container"])
	}
	return errs
}

func privileges(f found) field.ErrorList {
	context := f.in.object
	var errs field.ErrorList
	if isTrue(context, "privileged") {
		errs = append(errs, field.Forbidden(child(f.path, "privileged"), "disallowed by cluster policy"))
	}
	if context["allowPrivilegeEscalation"] != false {
		return errs
	}
	if isTrue(context, "privileged") {
		errs = append(errs, field.Invalid(f.path, context, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"))
	}
	if added, _ := object(context, "capabilities")["add"].([]any); slices.Contains(added, any("CAP_SYS_ADMIN")) {
		errs = append(errs, field.Invalid(f.path, context, "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"))
	}
	return errs
}

// matchLabelKeys wants keys whose values are taken from a Pod to be keys, and not to be in the selector
// as well.
func matchLabelKeys(f found) field.ErrorList {
	term := f.in.object
	selector, selects := term["labelSelector"].(map[string]any)
	spread := term["whenUnsatisfiable"] != nil
	inSelector := map[any]bool{}
	for name := range object(selector, "matchLabels") {
		inSelector[name] = true
	}
	for _, expression := range objects(selector["matchExpressions"]) {
		inSelector[expression["key"]] = true
	}
	var errs field.ErrorList
	mismatched, _ := term["mismatchLabelKeys"].([]any)
	for _, name := range []string{"matchLabelKeys", "mismatchLabelKeys"} {
		keys, _ := term[name].([]any)
		at := child(f.path, name)
		if len(keys) > 0 && !selects {
			errs = append(errs, field.Forbidden(at, "must not be specified when labelSelector is not set"))
			continue
		}
		for i, key := range keys {
			errs = append(errs, formats()["label-key"](key, at.Index(i))...)
			if name == "matchLabelKeys" && slices.Contains(mismatched, key) {
				errs = append(errs, field.Invalid(at.Index(i), key, "exists in both matchLabelKeys and mismatchLabelKeys"))
			}
			if spread && inSelector[key] {
				errs = append(errs, field.Invalid(at.Index(i), key, "exists in both matchLabelKeys and labelSelector"))
			}
		}
	}
	return errs
}

func byField(a, b *field.Error) int {
	switch {
	case a.Field < b.Field:
		return -1
	case a.Field > b.Field:
		return 1
	}
	return 0
}
