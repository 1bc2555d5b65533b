package proc

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/host"
)

// row is one process in the process table.
type row struct {
	pid, ppid, pgid, sid int
	state                byte   // 'Z' and 'X' are dead
	start                uint64 // unit of host.Handle.Start
	name                 string
	bare                 bool // between two programs: without an environment that could be looked at
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

// kernelThread is the flag of processes that have no program (PF_KTHREAD of the kernel).
const kernelThread = 0x00200000

// ownProcess reports whether a process belongs to this user, so that what is not shown of it is not there.
func ownProcess(pid int) bool {
	var st unix.Stat_t
	return unix.Stat("/proc/"+strconv.Itoa(pid), &st) == nil && int(st.Uid) == os.Geteuid()
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
	if kind, err := strconv.ParseUint(f[6], 10, 64); err == nil && len(f) > 48 { // env_end is 0 until a program is in place
		p.bare = kind&kernelThread == 0 && p.alive() && f[48] == "0"
	}
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
