package plain_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain wants nothing to be left of the checks.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
