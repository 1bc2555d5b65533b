package proc

import (
	"os"
	"testing"
)

// TestMain lets this test binary act as a keeper.
func TestMain(m *testing.M) {
	KeeperMain()
	os.Exit(m.Run())
}
