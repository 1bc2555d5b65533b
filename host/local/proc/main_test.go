package proc

import (
	"fmt"
	"os"
	"testing"
)

// partVariable makes this test binary play another part than running tests.
const partVariable = "TACKLE_TEST_PART"

// TestMain lets this test binary act as a keeper, or as a server that tests kill.
func TestMain(m *testing.M) {
	KeeperMain()
	if part := os.Getenv(partVariable); part != "" {
		if err := play(part, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, part+":", err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	if left := leftBehind(); left != "" && code == 0 {
		fmt.Fprintln(os.Stderr, "after the tests there are left:", left)
		code = 1
	}
	os.Exit(code)
}
