package live

import "strings"

// redactedMark begins what stands for a value that is not recorded. A digest follows.
const redactedMark = "redacted:"

// IsRedacted reports whether a text stands for a value that is not recorded.
func IsRedacted(text string) bool { return strings.HasPrefix(text, redactedMark) }
