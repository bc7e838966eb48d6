package fieldrules

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// volumeNamed returns the volume of a Pod with a name, as seen from somewhere within its spec,
// nil if there is none.
func volumeNamed(name any, from *scope) map[string]any {
	for from != nil && from.object["containers"] == nil {
		from = from.outer
	}
	if from == nil {
		return nil
	}
	if template := from.outer; template != nil && template.outer != nil {
		// The claims of a StatefulSet are volumes of its Pods, and win over others.
		for _, claim := range objects(template.outer.object["volumeClaimTemplates"]) {
			if object(claim, "metadata")["name"] == name {
				return map[string]any{"name": name, "persistentVolumeClaim": map[string]any{"claimName": name}}
			}
		}
	}
	for _, volume := range objects(from.object["volumes"]) {
		if volume["name"] == name {
			return volume
		}
	}
	return nil
}

func mountedVolume(f found) field.ErrorList {
	if volumeNamed(f.value, f.in) != nil {
		return nil
	}
	return list(field.NotFound(f.path, f.value))
}

// deviceVolume wants the volume of a device to be one that can be used as such.
func deviceVolume(f found) field.ErrorList {
	switch volume := volumeNamed(f.value, f.in); {
	case volume == nil:
		return list(field.NotFound(f.path, f.value))
	case volume["persistentVolumeClaim"] == nil && volume["ephemeral"] == nil:
		return list(field.Invalid(f.path, f.value, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"))
	}
	return nil
}

// fileVolume wants the volume that variables are read from to be one that starts empty.
func fileVolume(f found) field.ErrorList {
	switch volume := volumeNamed(f.value, f.in); {
	case volume == nil:
		return list(field.NotFound(f.path, f.value))
	case volume["emptyDir"] == nil:
		return list(field.Invalid(f.path, f.value, "referenced volume must be of type emptyDir"))
	}
	return nil
}

// mounts wants a container to mount each volume either as files or as a device, and no two
// at one place.
func mounts(f found) field.ErrorList {
	asFiles, asDevice := f.in.object["volumeMounts"], f.in.object["volumeDevices"]
	var errs field.ErrorList
	has := func(others any, name string, value any) bool {
		return slices.ContainsFunc(objects(others), func(o map[string]any) bool { return o[name] == value })
	}
	distinct := func(list any, listName, name string, others any, othersName, otherName string) {
		seen := map[any]bool{}
		for i, item := range objects(list) {
			at := child(f.path, listName).Index(i).Child(name)
			if seen[item[name]] {
				errs = append(errs, field.Invalid(at, item[name], "must be unique"))
			}
			seen[item[name]] = true
			if has(others, otherName, item[name]) {
				errs = append(errs, field.Invalid(at, item[name], "must not already exist in "+othersName))
			}
		}
	}
	distinct(asFiles, "volumeMounts", "mountPath", asDevice, "volumeDevices", "devicePath")
	distinct(asDevice, "volumeDevices", "devicePath", asFiles, "volumeMounts", "mountPath")
	distinct(asDevice, "volumeDevices", "name", asFiles, "volumeMounts", "name")
	for i, mount := range objects(asFiles) {
		if has(asDevice, "name", mount["name"]) {
			errs = append(errs, field.Invalid(child(f.path, "volumeMounts").Index(i).Child("name"), mount["name"], "must not already exist in volumeDevices"))
		}
		if isOne(mount, "mountPropagation", "Bidirectional") && !isTrue(object(f.in.object, "securityContext"), "privileged") {
			errs = append(errs, field.Forbidden(child(f.path, "volumeMounts").Child("mountPropagation"), "Bidirectional mount propagation is available only to privileged containers"))
		}
	}
	return errs
}

// projectedPaths wants no two files of a projected volume at one place.
func projectedPaths(f found) field.ErrorList {
	seen := map[any]bool{}
	var errs field.ErrorList
	for _, source := range objects(f.in.object["sources"]) {
		for _, kind := range []string{"secret", "configMap", "downwardAPI"} {
			for _, item := range objects(object(source, kind)["items"]) {
				if seen[item["path"]] {
					errs = append(errs, field.Invalid(f.path, item["path"], "conflicting duplicate paths"))
				}
				seen[item["path"]] = true
			}
		}
	}
	return errs
}

func accessModes(f found) field.ErrorList {
	known := []string{"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"}
	modes, _ := f.value.([]any)
	var errs field.ErrorList
	alone, shared := false, false
	for _, mode := range modes {
		switch name := text(mode); {
		case !slices.Contains(known, name):
			errs = append(errs, field.NotSupported(f.path, name, known))
		case name == "ReadWriteOncePod":
			alone = true
		default:
			shared = true
		}
	}
	if alone && shared {
		errs = append(errs, field.Forbidden(f.path, "may not use ReadWriteOncePod with other access modes"))
	}
	return errs
}

// claimSize wants a claim to say how much it is about.
func claimSize(f found) field.ErrorList {
	at := f.path.Key("storage")
	size, found := object(f.value.(map[string]any), "requests")["storage"]
	switch {
	case !found:
		return list(field.Required(at, ""))
	case positive(size):
		return nil
	}
	return list(field.Invalid(at, text(size), "must be greater than zero"))
}

func positive(value any) bool {
	q := quantityOf(value)
	return q.Sign() > 0
}

// volumeCapacity wants the size of a volume, and nothing else.
func volumeCapacity(f found) field.ErrorList {
	spec, _ := f.value.(map[string]any)
	at := f.path.Child("capacity")
	capacity := object(spec, "capacity")
	var errs field.ErrorList
	if _, found := capacity["storage"]; !found || len(capacity) > 1 {
		errs = append(errs, field.NotSupported(at, capacity, []string{"storage"}))
	}
	for name, size := range capacity {
		if !positive(size) {
			errs = append(errs, field.Invalid(at.Key(name), text(size), "must be greater than zero"))
		}
	}
	slices.SortFunc(errs, byField)
	return errs
}

// dataSources wants the two fields for what a claim is filled with to say the same.
func dataSources(f found) field.ErrorList {
	source, isThere := f.in.object["dataSource"].(map[string]any)
	reference, isReferred := f.in.object["dataSourceRef"].(map[string]any)
	if !isThere || !isReferred {
		return nil
	}
	if !empty(reference["namespace"]) {
		return list(field.Invalid(f.path, "dataSource", "may not be specified when dataSourceRef.namespace is specified"))
	}
	for _, name := range []string{"apiGroup", "kind", "name"} {
		if orEmpty(source[name]) != orEmpty(reference[name]) {
			return list(field.Invalid(f.path, "dataSource", "must match dataSourceRef"))
		}
	}
	return nil
}

// fieldReference wants the path of a field of a Pod that can be given to its containers.
func fieldReference(known ...string) func(found) field.ErrorList {
	return func(f found) field.ErrorList {
		reference, _ := f.value.(map[string]any)
		at := f.path.Child("fieldPath")
		path := text(orEmpty(reference["fieldPath"]))
		version := text(orEmpty(reference["apiVersion"]))
		switch {
		case version == "":
			return list(field.Required(f.path.Child("apiVersion"), ""))
		case path == "":
			return list(field.Required(at, ""))
		case version != "v1":
			return list(field.Invalid(at, path, "error converting fieldPath: unsupported pod version: "+version))
		}
		name, key, indexed := strings.Cut(strings.TrimSuffix(path, "']"), "['")
		if indexed && strings.HasSuffix(path, "']") {
			switch name {
			case "metadata.labels":
				return formats()["qualified-name"](key, f.path)
			case "metadata.annotations":
				return formats()["qualified-name"](strings.ToLower(key), f.path)
			}
			return list(field.Invalid(at, path, "error converting fieldPath: field label does not support subscript"))
		}
		podFields := []string{
			"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
			"spec.restartPolicy", "spec.serviceAccountName", "spec.schedulerName", "spec.hostNetwork", "status.phase", "status.hostIP",
			"status.hostIPs", "status.podIP", "status.podIPs", "status.nominatedNodeName", "spec.host",
		}
		switch {
		case slices.Contains(known, path):
			return nil
		case !slices.Contains(podFields, path):
			return list(field.Invalid(at, path, "error converting fieldPath: field label not supported: "+path))
		}
		return list(field.NotSupported(at, path, known))
	}
}
