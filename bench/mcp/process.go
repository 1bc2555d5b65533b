package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// memory returns the resident memory of a process and its descendants, now and at its peak, in MiB, and their number.
func memory(pid int) (now, peak float64, processes int) {
	kids := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		f := statFields(path)
		if len(f) < 2 {
			continue
		}
		parent, _ := strconv.Atoi(f[1])
		child, _ := strconv.Atoi(strings.Split(path, "/")[2])
		kids[parent] = append(kids[parent], child)
	}
	var walk func(int)
	walk = func(p int) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p))
		if err != nil {
			return
		}
		processes++
		for line := range strings.SplitSeq(string(b), "\n") {
			f := strings.Fields(line)
			if len(f) < 2 {
				continue
			}
			kib, _ := strconv.ParseFloat(f[1], 64)
			switch f[0] {
			case "VmRSS:":
				now += kib / 1024
			case "VmHWM:":
				peak += kib / 1024
			}
		}
		for _, k := range kids[p] {
			walk(k)
		}
	}
	walk(pid)
	return now, peak, processes
}

// processor returns user and system time of a process and its reaped children in milliseconds. The kernel counts in
// ticks of 10 ms, so only differences over many calls mean anything.
func processor(pid int) float64 {
	f := statFields(fmt.Sprintf("/proc/%d/stat", pid))
	if len(f) < 15 {
		return 0
	}
	ticks := 0.0
	for _, i := range []int{11, 12, 13, 14} { // utime stime cutime cstime
		n, _ := strconv.ParseFloat(f[i], 64)
		ticks += n
	}
	return ticks * 10
}

// statFields returns the fields of /proc/PID/stat behind the command's name, which may hold spaces.
func statFields(path string) []string {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	s := string(b)
	return strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
}
