package fieldrules

import (
	"fmt"
	"net"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // so that the same zones are known everywhere

	"github.com/robfig/cron/v3"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validation"
	pathvalidation "k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// format is how a value has to look. It is asked about values that are there, empty ones too.
type format func(value any, at *field.Path) field.ErrorList

func wellFormed(format format) rule {
	return func(f found) (field.ErrorList, bool) {
		if !f.there {
			return nil, true
		}
		errs := format(f.value, f.path)
		return errs, len(errs) > 0
	}
}

// formats are all formats by their names.
func formats() map[string]format {
	words := func(check func(string) []string) format {
		return func(value any, at *field.Path) field.ErrorList {
			s, ok := value.(string)
			if !ok {
				return nil
			}
			var errs field.ErrorList
			for _, message := range check(s) {
				errs = append(errs, field.Invalid(at, s, message))
			}
			return errs
		}
	}
	must := func(holds func(string) bool, message string) format {
		return words(func(s string) []string {
			if holds(s) {
				return nil
			}
			return []string{message}
		})
	}
	return map[string]format{
		"dns-label":         words(utilvalidation.IsDNS1123Label),
		"dns-subdomain":     words(func(s string) []string { return validation.NameIsDNSSubdomain(s, false) }),
		"dns-subdomain-any": words(func(s string) []string { return utilvalidation.IsDNS1123Subdomain(strings.ToLower(s)) }),
		"qualified-name":    words(utilvalidation.IsQualifiedName),
		"label-key":         words(utilvalidation.IsQualifiedName),
		"label-value":       words(utilvalidation.IsValidLabelValue),
		"env-name":          words(utilvalidation.IsRelaxedEnvVarName),
		"config-key":        words(utilvalidation.IsConfigMapKey),
		"http-header":       words(utilvalidation.IsHTTPHeaderName),
		"path-segment":      words(pathvalidation.IsValidPathSegmentName),
		"port-name":         words(utilvalidation.IsValidPortName),
		"port":              port,
		"port-or-name":      port,
		"csi-driver":        words(isCSIDriver),
		"condition-reason":  must(func(s string) bool { return len(s) <= 1024 && conditionReason.MatchString(s) }, "a condition reason must start with alphabetic character"),
		"cron":              words(isSchedule),
		"windows-user":      words(isWindowsUser),
		"iscsi-name":        must(iscsiName.MatchString, "must be a name in the iqn, eui or naa format"),
		"sysctl":            must(func(s string) bool { return len(s) <= 253 && sysctlName.MatchString(s) }, "must be the name of a sysctl"),
		"flex-option":       must(isFlexOption, "kubernetes.io and k8s.io namespaces are reserved"),
		"host-ports":        must(areHostPorts, "must be a host:port pair or multiple pairs separated by commas"),
		"trimmed":           must(func(s string) bool { return strings.TrimSpace(s) == s }, "must not have leading or trailing whitespace"),
		"absolute-path":     must(path.IsAbs, "must be an absolute path"),
		"no-slash":          must(func(s string) bool { return !strings.Contains(s, "/") }, "must not contain '/'"),
		"no-backsteps":      must(func(s string) bool { return !stepsBack(s) }, "must not contain '..'"),
		"local-path":        words(isLocal),
		"file-path":         words(isFile),
		"time-zone":         words(isTimeZone),
		"api-version":       words(isAPIVersion),
		"limit-type": must(func(s string) bool {
			return strings.Contains(s, "/") || s == "Pod" || s == "Container" || s == "PersistentVolumeClaim"
		}, "must be a standard limit type or fully qualified"),
		"finalizer":               Finalizer,
		"webhook-path":            words(isWebhookPath),
		"dns-search":              words(isSearchDomain),
		"host-name":               words(func(s string) []string { return utilvalidation.IsDNS1123Subdomain(strings.TrimSuffix(s, ".")) }),
		"share":                   share,
		"share-of-all":            shareOfAll,
		"container-resource-name": func(value any, at *field.Path) field.ErrorList { return resourceName(text(value), ofContainer, at) },
		"endpoint-ip":             endpointIP,
		"cidr-trimmed":            func(value any, at *field.Path) field.ErrorList { return cidr(strings.TrimSpace(text(value)), at) },
		"ip":                      ipAddress,
		"cidr":                    cidr,
		"labels":                  labels,
		"annotations":             annotations,
		"label-selector":          labelSelector,
		"quantity-not-negative":   quantity(func(q apiresource.Quantity) bool { return q.Sign() >= 0 }, "must be greater than or equal to 0"),
		"quantity-positive":       quantity(func(q apiresource.Quantity) bool { return q.Sign() > 0 }, "must be greater than zero"),
	}
}

// The shapes of names that need a pattern.
var (
	iscsiName       = regexp.MustCompile(`^(iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)|eui\.[[:alnum:]]{16}|naa\.[[:alnum:]]{32})$`)
	conditionReason = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)
	sysctlName      = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)
)

func port(value any, at *field.Path) field.ErrorList {
	var messages []string
	switch port := value.(type) {
	case string:
		messages = utilvalidation.IsValidPortName(port)
	case int64:
		messages = utilvalidation.IsValidPortNum(int(port))
	}
	var errs field.ErrorList
	for _, message := range messages {
		errs = append(errs, field.Invalid(at, value, message))
	}
	return errs
}

// Finalizer wants a finalizer to be one of Kubernetes' own or to say whose it is.
func Finalizer(value any, at *field.Path) field.ErrorList {
	name := text(value)
	switch name {
	case "kubernetes", metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents:
		return nil
	}
	if strings.Contains(name, "/") {
		return nil
	}
	return field.ErrorList{field.Invalid(at, name, "name is neither a standard finalizer name nor is it fully qualified")}
}

func isCSIDriver(name string) []string {
	const longest = 63
	if len(name) > longest {
		return []string{utilvalidation.MaxLenError(longest)}
	}
	return utilvalidation.IsDNS1123Subdomain(strings.ToLower(name))
}

// isSchedule wants a schedule as the CronJob controller reads it. The zone has a field of
// its own.
func isSchedule(schedule string) []string {
	var messages []string
	if err := parseSchedule(schedule); err != nil {
		messages = append(messages, err.Error())
	}
	if strings.Contains(schedule, "TZ") {
		messages = append(messages, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
	}
	return messages
}

// parseSchedule survives schedules that the parser does not.
func parseSchedule(schedule string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("invalid schedule format, err: %v", r)
		}
	}()
	_, err = cron.ParseStandard(schedule)
	return err
}

// isTimeZone wants the name of a time zone of the IANA, which the machine has to know.
func isTimeZone(zone string) []string {
	if zone == "" {
		return []string{"timeZone must be nil or non-empty string"}
	}
	if strings.EqualFold(zone, "Local") {
		return []string{"timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"}
	}
	if _, err := time.LoadLocation(zone); err != nil {
		return []string{err.Error()}
	}
	return nil
}

func isAPIVersion(version string) []string {
	if _, err := schema.ParseGroupVersion(version); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// isWebhookPath wants a path of an URL whose segments are names.
func isWebhookPath(path string) []string {
	if !strings.HasPrefix(path, "/") {
		return []string{"must start with a '/'"}
	}
	if path == "/" {
		return nil
	}
	var messages []string
	segments := strings.Split(strings.TrimSuffix(path[1:], "/"), "/")
	for i, segment := range segments {
		if segment == "" {
			messages = append(messages, fmt.Sprintf("segment[%d] may not be empty", i))
		}
		for _, message := range utilvalidation.IsDNS1123Subdomain(segment) {
			messages = append(messages, fmt.Sprintf("segment[%d]: %s", i, message))
		}
	}
	return messages
}

// share wants a number of Pods or a percentage of them.
func share(value any, at *field.Path) field.ErrorList {
	switch value := value.(type) {
	case int64:
		return validation.ValidateNonnegativeField(value, at)
	case string:
		var errs field.ErrorList
		for _, message := range utilvalidation.IsValidPercent(value) {
			errs = append(errs, field.Invalid(at, value, message))
		}
		return errs
	}
	return nil
}

// shareOfAll wants a percentage to be no more than all.
func shareOfAll(value any, at *field.Path) field.ErrorList {
	percent, err := strconv.Atoi(strings.TrimSuffix(text(value), "%"))
	if _, isText := value.(string); !isText || err != nil || percent <= 100 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, value, "must not be greater than 100%")}
}

// endpointIP wants an address that something else can be reached at.
func endpointIP(value any, at *field.Path) field.ErrorList {
	ip := net.ParseIP(text(value))
	for _, wrong := range []struct {
		is      bool
		message string
	}{
		{ip.IsUnspecified(), "may not be unspecified (" + text(value) + ")"},
		{ip.IsLoopback(), "may not be in the loopback range (127.0.0.0/8, ::1/128)"},
		{ip.IsLinkLocalUnicast(), "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
		{ip.IsLinkLocalMulticast(), "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"},
	} {
		if wrong.is {
			return field.ErrorList{field.Invalid(at, text(value), wrong.message)}
		}
	}
	return nil
}

// isSearchDomain wants a domain to look names up in. It may have underscores.
func isSearchDomain(domain string) []string {
	if domain == "." {
		return nil
	}
	return utilvalidation.IsDNS1123SubdomainWithUnderscore(strings.TrimSuffix(domain, "."))
}

// isWindowsUser wants DOMAIN\user or user.
func isWindowsUser(name string) []string {
	domain, user, hasDomain := strings.Cut(name, `\`)
	if !hasDomain {
		user = domain
	}
	switch {
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return []string{"cannot contain control characters"}
	case strings.Contains(user, `\`):
		return []string{"cannot contain more than one backslash"}
	case hasDomain && (domain == "" || len(domain) > 255):
		return []string{"has a domain that is none"}
	case user == "" || len(user) > 104:
		return []string{"has a user that is empty or too long"}
	case strings.Trim(user, ". ") == "":
		return []string{"has a user of periods and spaces alone"}
	case strings.ContainsAny(user, `"/:;|=,+*?<>@[]`):
		return []string{`has a user with one of "/\:;|=,+*?<>@[]`}
	}
	return nil
}

func isFlexOption(key string) bool {
	namespace, _, _ := strings.Cut(key, "/")
	namespace = "." + strings.ToLower(namespace)
	return !strings.HasSuffix(namespace, ".kubernetes.io") && !strings.HasSuffix(namespace, ".k8s.io")
}

func areHostPorts(list string) bool {
	for _, pair := range strings.Split(list, ",") {
		if _, _, err := net.SplitHostPort(pair); err != nil {
			return false
		}
	}
	return true
}

func stepsBack(file string) bool {
	for _, part := range strings.Split(file, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// isLocal wants a path that leads down from where it is read.
func isLocal(file string) []string {
	var messages []string
	if path.IsAbs(file) {
		messages = append(messages, "must be a relative path")
	}
	if stepsBack(file) {
		messages = append(messages, "must not contain '..'")
	}
	return messages
}

// isFile wants a local path that no file of the kubelet's own has.
func isFile(file string) []string {
	messages := isLocal(file)
	if strings.HasPrefix(file, "..") && !strings.HasPrefix(file, "../") {
		messages = append(messages, "must not start with '..'")
	}
	return messages
}

func ipAddress(value any, at *field.Path) field.ErrorList {
	return utilvalidation.IsValidIPForLegacyField(at, text(value), true, nil)
}

func cidr(value any, at *field.Path) field.ErrorList {
	return utilvalidation.IsValidCIDRForLegacyField(at, text(value), true, nil)
}

// strings of a map whose values are strings.
func stringsOf(value any) map[string]string {
	object, _ := value.(map[string]any)
	all := make(map[string]string, len(object))
	for name, value := range object {
		all[name], _ = value.(string)
	}
	return all
}

func labels(value any, at *field.Path) field.ErrorList {
	return metav1validation.ValidateLabels(stringsOf(value), at)
}

func annotations(value any, at *field.Path) field.ErrorList {
	return validation.ValidateAnnotations(stringsOf(value), at)
}

func labelSelector(value any, at *field.Path) field.ErrorList {
	object, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	var selector metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, &selector); err != nil {
		return field.ErrorList{field.Invalid(at, object, err.Error())}
	}
	return metav1validation.ValidateLabelSelector(&selector, metav1validation.LabelSelectorValidationOptions{}, at)
}

// quantityOf reads a quantity, zero if it is none.
func quantityOf(value any) apiresource.Quantity {
	q, err := apiresource.ParseQuantity(text(orEmpty(value)))
	if err != nil {
		return apiresource.Quantity{}
	}
	return q
}

func quantity(holds func(apiresource.Quantity) bool, must string) format {
	return func(value any, at *field.Path) field.ErrorList {
		if holds(quantityOf(value)) {
			return nil
		}
		return field.ErrorList{field.Invalid(at, text(value), must)}
	}
}
