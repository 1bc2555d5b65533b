package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const selfPath = "/proc/self/exe"

// system is what every program may read and run: programs, libraries, fonts and their settings.
var system = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/gnu/store", "/run/current-system", "/snap",
	"/etc/fonts", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/libreoffice", "/etc/ImageMagick-6", "/etc/mime.types", "/etc/magic",
	"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/localtime", "/etc/timezone", "/etc/locale.alias", "/etc/papersize", "/etc/paperspecs", "/etc/ssl/openssl.cnf", "/etc/python3", "/etc/python3.11",
	"/var/cache/fontconfig", "/var/lib/libreoffice", "/var/spool/libreoffice", "/var/lib/ghostscript", "/sys/devices/system/cpu",
	"/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/filesystems", "/proc/version", "/proc/sys/kernel", "/proc/sys/vm", // and nothing of other processes
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
}

// What Landlock knows of, by its version.
const (
	readAccess = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	runAccess  = readAccess | unix.LANDLOCK_ACCESS_FS_EXECUTE
	makeAccess = readAccess | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	fileAccess   = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	socketAccess = unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE
)

// handled are the kinds of access that a version of Landlock takes away where no rule gives them.
func handled(version int) (fs, net, scope uint64) {
	fs = 1<<13 - 1 // version 1: everything up to MAKE_SYM
	if version >= 2 {
		fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= 4 {
		net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= 5 {
		fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if version >= 6 {
		scope = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return fs, net, scope
}

// landlock returns the version of Landlock, 0 where there is none.
func landlock() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

func here() Holds {
	h := Holds{Files: landlock() > 0, Network: nativeArch != 0}
	if h.Network {
		action := uint32(unix.SECCOMP_RET_ERRNO)
		_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
		h.Network = errno == 0
	}
	var lacks []string
	if !h.Files {
		lacks = append(lacks, "no Landlock in this kernel")
	}
	if !h.Network {
		lacks = append(lacks, "no filter of system calls (seccomp) in this kernel")
	}
	h.Reason = strings.Join(lacks, "; ")
	return h
}

// become gives up what the rules do not allow and becomes the program.
func become(text string) error {
	var r Rules
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return err
	}
	if len(os.Args) < 2 || !filepath.IsAbs(os.Args[1]) {
		return errors.New("no program with an absolute path")
	}
	runtime.LockOSThread() // what is given up is given up by this thread, and by what it becomes
	if r.FileSize > 0 {
		l := unix.Rlimit{Cur: uint64(r.FileSize), Max: uint64(r.FileSize)}
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &l); err != nil {
			return fmt.Errorf("limit of file size: %w", err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	h := here()
	if h.Files {
		if err := holdFiles(&r, os.Args[1], landlock()); err != nil {
			return fmt.Errorf("files: %w", err)
		}
	}
	if h.Network {
		if err := holdNetwork(r.Sockets); err != nil {
			return fmt.Errorf("network: %w", err)
		}
	}
	var env []string
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); slices.Contains(r.Env, name) {
			env = append(env, kv)
		}
	}
	if err := syscall.Exec(os.Args[1], os.Args[1:], env); err != nil {
		return fmt.Errorf("%s: %w", os.Args[1], err)
	}
	return nil
}

// holdFiles takes away all files but those of the system and of the rules.
func holdFiles(r *Rules, program string, version int) error {
	fs, net, scope := handled(version)
	attr := unix.LandlockRulesetAttr{Handled_access_fs: fs, Handled_access_net: net, Scoped: scope}
	size := unsafe.Offsetof(attr.Scoped) + unsafe.Sizeof(attr.Scoped)
	switch { // an old kernel takes the first fields
	case version < 4:
		size = unsafe.Offsetof(attr.Handled_access_net)
	case version < 6:
		size = unsafe.Offsetof(attr.Scoped)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return os.NewSyscallError("landlock_create_ruleset", errno)
	}
	set := int(fd)
	defer unix.Close(set)
	for _, p := range system {
		access := uint64(runAccess)
		if p == "/dev/null" {
			access = fileAccess
		}
		if err := allow(set, p, access&fs); err != nil {
			return err
		}
	}
	for _, p := range around(program, os.Getenv("HOME")) {
		if err := allow(set, p, runAccess&fs); err != nil {
			return err
		}
	}
	for _, p := range r.Read {
		if err := allow(set, p, readAccess&fs); err != nil {
			return err
		}
	}
	for _, p := range r.Write {
		if err := allow(set, p, makeAccess&fs); err != nil {
			return err
		}
	}
	if r.Sockets {
		if err := allow(set, "/tmp", socketAccess&fs); err != nil {
			return err
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return os.NewSyscallError("landlock_restrict_self", errno)
	}
	return nil
}

// allow gives access to what lies at a path, where something does.
func allow(set int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil //nolint:nilerr // what is not there, or not reachable, needs no rule
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= fileAccess
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return &os.PathError{Op: "landlock_add_rule", Path: path, Err: errno}
	}
	return nil
}

// holdNetwork takes away sockets, except local ones where they are allowed, and the ways around that.
func holdNetwork(local bool) error {
	const nr, arch, first = 0, 4, 16 // offsets in struct seccomp_data
	refuse := func(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	ret := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	jump := func(op uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, Jt: yes, Jf: no, K: k}
	}
	prog := []unix.SockFilter{
		load(arch), jump(unix.BPF_JEQ, nativeArch, 1, 0), ret(refuse(unix.EPERM)), // calls of another architecture
		load(nr), jump(unix.BPF_JGE, foreignCalls, 0, 1), ret(refuse(unix.ENOSYS)),
	}
	for _, call := range []uint32{unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV} {
		prog = append(prog, jump(unix.BPF_JEQ, call, 0, 1), ret(refuse(unix.ENOSYS)))
	}
	prog = append(prog, jump(unix.BPF_JEQ, unix.SYS_SOCKET, 1, 0), ret(unix.SECCOMP_RET_ALLOW))
	if local {
		prog = append(prog, load(first), jump(unix.BPF_JEQ, unix.AF_UNIX, 0, 1), ret(unix.SECCOMP_RET_ALLOW))
	}
	prog = append(prog, ret(refuse(unix.EACCES)))
	f := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&f))); errno != 0 {
		return os.NewSyscallError("seccomp", errno)
	}
	return nil
}

// around are the folders that belong to a program which lies outside of those of the system: what was installed with it, and
// nothing else of its user.
func around(program, home string) []string {
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	bin := filepath.Dir(program)
	root := filepath.Dir(bin)
	rel, err := filepath.Rel(root, home)
	above := err == nil && !strings.HasPrefix(rel, "..")
	if filepath.Base(bin) != "bin" || above || root == filepath.Join(home, ".local") {
		return []string{bin, filepath.Join(root, "lib")}
	}
	return []string{root}
}
