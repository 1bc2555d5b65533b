package confine

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

// confined runs a script of bash under rules, with a variable that is no rule's.
func confined(t *testing.T, r Rules, script string) (string, error) {
	t.Helper()
	argv, env, err := Command(r, []string{"/bin/bash", "--norc", "-c", script})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + t.TempDir(), "SECRET=hush"}
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func need(t *testing.T) {
	t.Helper()
	if h := Here(); !h.Network || !h.Files { // a kernel cannot be installed, so this is no matter of TACKLE_ORACLES
		t.Skipf("not everything is held here: %s", h.Reason)
	}
}

func TestFiles(t *testing.T) {
	need(t)
	dir := t.TempDir()
	for _, d := range []string{"mine", "given", "other"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, d, "a"), []byte("content of "+d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mine, given, other := filepath.Join(dir, "mine"), filepath.Join(dir, "given"), filepath.Join(dir, "other")
	r := Rules{Read: []string{given}, Write: []string{mine}, Env: []string{"PATH", "HOME"}}
	for _, tt := range []struct {
		script string
		works  bool
	}{
		{"cat " + given + "/a", true},
		{"cat " + mine + "/a", true},
		{"echo x > " + mine + "/b && mkdir " + mine + "/d && mv " + mine + "/b " + mine + "/d/c && rm -r " + mine + "/d", true},
		{"cat " + other + "/a", false},
		{"ls " + other, false},
		{"echo x > " + other + "/b", false},
		{"echo x >> " + given + "/a", false},
		{"rm " + other + "/a", false},
		{"rm " + given + "/a", false},
		{"cat " + mine + "/../other/a", false},
		{"ln -s " + other + "/a " + mine + "/l && cat " + mine + "/l", false},
		{"ln " + other + "/a " + mine + "/h && cat " + mine + "/h", false},
		{"cat /etc/hostname", false},
		{"tr '\\0' '\\n' < /proc/$PPID/environ", false},
		{"cp /bin/true " + mine + "/t && " + mine + "/t", false},
		{`echo "$SECRET" | grep -q hush`, false},
		{"mktemp /tmp/confined-XXXXXX", false},
	} {
		out, err := confined(t, r, tt.script)
		if (err == nil) != tt.works {
			t.Errorf("%s: %v, %s", tt.script, err, out)
		}
	}
	for _, d := range []string{"given", "other"} {
		if b, err := os.ReadFile(filepath.Join(dir, d, "a")); string(b) != "content of "+d {
			t.Errorf("%s is %q, %v", d, b, err)
		}
	}
}

func TestNetwork(t *testing.T) {
	need(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got := make(chan struct{}, 8)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			got <- struct{}{}
			c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for _, tt := range []struct{ script, how string }{
		{"exec 3<>/dev/tcp/127.0.0.1/" + port, "TCP"},
		{"echo x > /dev/udp/127.0.0.1/" + port, "UDP"},
		{"bash -c 'setsid bash -c \"exec 3<>/dev/tcp/127.0.0.1/" + port + "\"'", "TCP from a child in a session of its own"},
	} {
		for _, local := range []bool{false, true} {
			if out, err := confined(t, Rules{Env: []string{"PATH"}, Sockets: local}, tt.script); err == nil {
				t.Errorf("%s, local sockets %v: it reaches the network: %s", tt.how, local, out)
			}
		}
		// The trap works: the same script, not confined, reaches it.
		if out, err := exec.Command("/bin/bash", "-c", tt.script).CombinedOutput(); err != nil {
			t.Errorf("%s: not confined: %v, %s", tt.how, err, out)
		}
	}
	<-got
	<-got
	if len(got) != 0 {
		t.Errorf("%d connections too many", len(got))
	}
}

func TestFileSize(t *testing.T) {
	need(t)
	dir := t.TempDir()
	r := Rules{Write: []string{dir}, FileSize: 1000, Env: []string{"PATH"}}
	if out, err := confined(t, r, "head -c 900 /dev/zero > "+dir+"/a"); err != nil {
		t.Errorf("%v %s", err, out)
	}
	if _, err := confined(t, r, "head -c 2000 /dev/zero > "+dir+"/b"); err == nil {
		t.Error("a file beyond the limit")
	}
}

func TestProgramThatIsMissing(t *testing.T) {
	need(t)
	argv, env, err := Command(Rules{}, []string{"/no/such/program"})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = []string{variable + "=" + env[variable]}
	out, err := cmd.CombinedOutput()
	if want := "/no/such/program: no such file or directory"; err == nil || !strings.Contains(string(out), want) || cmd.ProcessState.ExitCode() != 126 {
		t.Errorf("%v: %s", err, out)
	}
}

func TestAround(t *testing.T) {
	for program, want := range map[string]string{
		"/srv/office/bin/soffice":            "[/srv/office]",
		"/home/mia/miniconda3/bin/tesseract": "[/home/mia/miniconda3]",
		"/home/mia/.local/bin/pandoc":        "[/home/mia/.local/bin /home/mia/.local/lib]",
		"/home/mia/bin/pandoc":               "[/home/mia/bin /home/mia/lib]",
		"/home/bin/pandoc":                   "[/home/bin /home/lib]",
		"/home/mia/tools/pandoc-2/pandoc":    "[/home/mia/tools/pandoc-2 /home/mia/tools/lib]",
	} {
		if got := fmt.Sprint(around(program, "/home/mia")); got != want {
			t.Errorf("%s: %s, want %s", program, got, want)
		}
	}
}

func TestWordsForDoctor(t *testing.T) {
	for _, tt := range []struct {
		h    Holds
		want string
	}{
		{Holds{Network: true, Files: true}, "confined: no network, and no files but the one they are given"},
		{Holds{Network: true, Reason: "no Landlock in this kernel"}, "no network; they can read what you can read (no Landlock in this kernel)"},
		{Holds{Files: true, Reason: "x"}, "the network is held off by their own options only (x)"},
		{Holds{Reason: "x"}, "not confined: their own options keep them from the network (x)"},
	} {
		if got := tt.h.String(); !strings.HasSuffix(got, tt.want) {
			t.Errorf("%q", got)
		}
	}
}
