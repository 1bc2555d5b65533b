package proc

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/host"
)

// row is one process in the process table.
type row struct {
	pid, ppid, pgid, sid int
	state                byte   // 'Z' and 'X' are dead
	start                uint64 // unit of host.Handle.Start
	name                 string
}

func (p row) alive() bool { return p.state != 'Z' && p.state != 'X' }

func (p row) info() host.ProcessInfo { return host.ProcessInfo{PID: p.pid, Name: p.name} }

// readProcess returns the row of one process.
func readProcess(pid int) (row, bool) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return row{}, false
	}
	return parseStat(raw)
}

// parseStat reads /proc/PID/stat (proc_pid_stat(5)). The name is in brackets and may itself hold brackets and blanks.
func parseStat(raw []byte) (row, bool) {
	open, shut := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	if open < 1 || shut < open {
		return row{}, false
	}
	f := strings.Fields(string(raw[shut+1:]))
	if len(f) < 20 {
		return row{}, false
	}
	p := row{state: f[0][0], name: string(raw[open+1 : shut])}
	var err error
	num := func(s string) int {
		n, e := strconv.Atoi(s)
		if e != nil {
			err = e
		}
		return n
	}
	p.pid = num(strings.TrimSpace(string(raw[:open])))
	p.ppid, p.pgid, p.sid = num(f[1]), num(f[2]), num(f[3])
	var e error
	p.start, e = strconv.ParseUint(f[19], 10, 64)
	return p, err == nil && e == nil && p.pid > 0
}

// table returns the rows of all processes with a pid of at least first, in no order.
func table(first int) ([]row, error) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var rows []row
	for {
		names, err := d.Readdirnames(512)
		for _, name := range names {
			if pid, err := strconv.Atoi(name); err == nil && pid >= first {
				if p, ok := readProcess(pid); ok {
					rows = append(rows, p)
				}
			}
		}
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// marked reports whether a process carries a mark in the environment that it was started with.
func marked(pid int, run string) bool {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	want := MarkVariable + "=" + run
	for kv := range bytes.SplitSeq(raw, []byte{0}) {
		if string(kv) == want {
			return true
		}
	}
	return false
}

// bootID names this boot, or is "" where the system does not tell.
func bootID() string {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}
