package command

import (
	"strings"
	"sync"
)

// A wrapper is a command that runs another one, given in its arguments.
type wrapper struct {
	grammar
	skip   int  // operands in front of the command: the duration of timeout, the host of ssh; at most one
	env    bool // operands NAME=value in front of the command set variables
	joined bool // the words are joined and given to a shell
	input  bool // adds words that are not in the line
	// through: it starts the command with the same rights and arguments, so that allowing the command is enough.
	through bool
}

// wrapperTable lists the wrappers: the words that name one, its properties, and its options in the notation of grammar.
// With an option that is not listed, what the wrapper runs can only be guessed, and only an exact pattern may allow the
// call. So options that do more than start a command are left out: time -o, env -S, env -C.
const wrapperTable = `
timeout, gtimeout                | through skip  | k= s= v kill-after= signal= verbose foreground preserve-status
nice, gnice                      | through digits| n= adjustment=
nohup, gnohup                    | through       |
ionice                           | through       | c= n= t class= classdata= ignore
stdbuf, gstdbuf                  | through       | i= o= e= input= output= error=
setsid                           | through       | c f w ctty fork wait
taskset                          | through skip  | a c all-tasks cpu-list
chrt                             | skip          | a b f i o r v R all-tasks batch fifo idle other rr verbose reset-on-fork
time, gtime                      | through       | p v q portability verbose quiet
unbuffer                         | through       | p
caffeinate                       | through       | d i m s u t=
chronic                          | through       | v e
command                          | through       | p
builtin                          | through       |
exec                             | through       | c l a=
noglob, nocorrect                | through       |
env, genv                        | through env   | i 0 u= v ignore-environment null unset= debug
xargs, gxargs                    | through input | 0 r t x p o a= d= E= e? I= i? L= l? n= P= s= null no-run-if-empty verbose exit interactive open-tty arg-file= delimiter= eof? replace? max-lines? max-args= max-procs= max-chars= process-slot-var=
sudo                             | env           | A B b E H K k n N P S C= D= g= h= p= R= r= T= t= U= u= askpass background preserve-env? non-interactive reset-timestamp stdin set-home chdir= group= host= prompt= chroot= role= type= other-user= user= command-timeout=
doas                             |               | n L C= u=
pkexec                           |               | user= disable-internal-agent keep-cwd
runuser, setpriv, unshare, nsenter, capsh, prlimit, cpulimit, choom, numactl, setarch, fakeroot |  |
chroot                           | skip          | groups= userspec= skip-chdir
faketime                         | skip          |
flock                            | skip          | e s x u n w= E= o F v exclusive shared nonblock unlock timeout= conflict-exit-code= close no-fork verbose
linux32, linux64                 |               | R B I L S T X Z 3 v
systemd-run, systemd-inhibit     |               | q t user scope wait pty pipe quiet collect
dbus-run-session, dbus-launch, xvfb-run, startx, bwrap, firejail, proot, landrun |  |
strace, ltrace, valgrind, gdb, lldb, rr, catchsegv, rlwrap, hyperfine |  | f
perf stat, perf record           |               |
parallel                         | input         | j= k X m
entr                             | input         | r c d n p s z
ifne                             |               | n
watch                            | joined        | b c C d? e g n= p q= r t w beep color differences? errexit chgexit interval= precise no-title no-wrap
ssh, autossh                     | joined skip   | 1 2 4 6 A a C f G g K k M N n q s T t V v X x Y y B= b= c= D= E= e= F= I= i= J= L= l= m= O= o= P= p= Q= R= S= W= w=
busybox, toybox                  |               |
npx, pnpx, bunx                  |               | y yes no-install
uvx, pipx run                    |               | q quiet
docker exec, podman exec, nerdctl exec | skip    | d i t l e= u= w= detach interactive tty privileged latest env= env-file= user= workdir= detach-keys=
docker run, podman run, nerdctl run    | skip    | d i t v= e= w= u= p= rm init detach interactive tty volume= env= workdir= user= name= network= entrypoint= platform= mount= publish=
docker compose exec, docker-compose exec, podman compose exec | skip | d T e= u= w= env= user= workdir= index= detach privileged no-TTY
docker compose run, docker-compose run, podman compose run    | skip | d T e= u= w= v= rm env= user= workdir= volume= name= detach no-deps no-TTY service-ports
kubectl exec, oc exec            | skip          | i t n= c= stdin tty namespace= container= context=
kubectl run, oc run, lxc exec    | skip          |
npm exec, npm x, pnpm exec, pnpm dlx, yarn exec, yarn dlx, bun x  |  | y c yes silent
uv run, uv tool run              |               | q quiet frozen locked isolated no-sync
poetry run, pipenv run, pdm run, hatch run, rye run, bundle exec  |  |
conda run, mamba run, micromamba run |           | n= p= name= prefix= no-capture-output live-stream
mise exec, mise x, asdf exec, pyenv exec, rbenv exec, nodenv exec, devbox run, op run, doppler run, heroku run |  |
direnv exec, aws-vault exec, chamber exec, sops exec-env | skip |
nix run, nix shell, nix develop, nix-shell |     |
git bisect run                   |               |
git submodule foreach            | joined        | q quiet recursive
`

// wrappers maps the names of wrappers, of one to three words, to what is known about them.
var wrappers = sync.OnceValue(func() map[string]*wrapper {
	m := map[string]*wrapper{}
	for line := range strings.Lines(wrapperTable) {
		names, rest, ok := strings.Cut(line, "|")
		if !ok {
			continue
		}
		properties, options, _ := strings.Cut(rest, "|")
		wr := &wrapper{grammar: grammar{first: true}}
		wr.options(options)
		for p := range strings.FieldsSeq(properties) {
			switch p {
			case "through":
				wr.through = true
			case "env":
				wr.env = true
			case "joined":
				wr.joined = true
			case "input":
				wr.input = true
			case "digits":
				wr.digits = true
			case "skip":
				wr.skip = 1
			}
		}
		for name := range strings.SplitSeq(names, ",") {
			name = strings.TrimSpace(name)
			m[name] = wr
			if first, _, more := strings.Cut(name, " "); more {
				m[first+" "] = nil // its subcommands are to be looked at
			}
		}
	}
	return m
})

// wrapperOf returns the wrapper that a call is, and how many words name it.
func wrapperOf(c *Call) (*wrapper, int) {
	name := c.Name()
	if w := wrappers()[name]; w != nil {
		return w, 1
	}
	if _, more := wrappers()[name+" "]; !more {
		return nil, 0
	}
	for n := 1; n < len(c.Args) && n < 3 && c.Args[n].Literal(); n++ {
		name += " " + c.Args[n].Text
		if w := wrappers()[name]; w != nil {
			return w, n + 1
		}
	}
	return nil, 0
}
