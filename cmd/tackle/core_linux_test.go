package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// SEC-004: a crash leaves no core file.
func TestSEC004_NoCoreFile(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Args = []string{"tackle", "mcp", "--hello", "-C", t.TempDir(), "--state", filepath.Join(t.TempDir(), "state")}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	hello, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(hello).ReadString('\n'); err != nil { // it is up
		t.Fatal(err)
	}
	limits, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(cmd.Process.Pid), "limits"))
	if err != nil || !regexp.MustCompile(`Max core file size +0 +0 `).Match(limits) {
		t.Errorf("%v\n%s", err, limits)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
