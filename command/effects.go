package command

import (
	"strings"
	"sync"
)

// Effect is something that a command is known to do. What is not known is not listed: a command without effects may do
// anything.
type Effect string

// The effects.
const (
	Looks     Effect = "looks"     // it only reads and prints, see [ReadOnly]
	Writes    Effect = "writes"    // it changes files that its operands name
	Deletes   Effect = "deletes"   // it removes files that its operands name
	Networks  Effect = "networks"  // it talks to other machines
	Publishes Effect = "publishes" // it sends something out that cannot be taken back: push, publish, deploy
	Elevates  Effect = "elevates"  // it runs with other rights
	Evaluates Effect = "evaluates" // it runs code that stands in its arguments, its input or a file
	Endless   Effect = "endless"   // it may not end by itself, or waits for a person
)

// effectTable lists commands, of one to three words, by effect. It is for explanations and for classes that only
// tighten; nothing is allowed because of it.
const effectTable = `
deletes:   rm, rmdir, unlink, shred, git clean, git branch -D
writes:    mkdir, touch, tee, truncate, chmod, chown, chgrp, mv, cp, ln, install, mkfifo, mknod, dd, split, csplit, patch, rename, ed, ex
writes:    git add, git commit, git checkout, git switch, git restore, git reset, git stash, git merge, git rebase, git apply, git am, git tag, git config, git init, git worktree
networks:  curl, wget, ping, dig, nslookup, host, nc, ncat, telnet, ftp, sftp, scp, rsync, ssh, http, https, aria2c, traceroute, whois
networks:  git clone, git fetch, git pull, git ls-remote, git submodule, npm install, npm ci, npm i, pnpm install, pnpm add, yarn install, yarn add, pip install, pip3 install, uv sync, go get, go install, go mod, cargo install, cargo fetch, cargo update, gem install, bundle install, apt install, apt update, apt-get install, apt-get update, brew install, docker pull, podman pull
publishes: git push, git send-email, gh pr create, gh pr merge, gh pr close, gh pr comment, gh pr review, gh pr edit, gh issue create, gh issue close, gh issue comment, gh issue edit, gh release create, gh release delete, gh api, gh repo create, gh repo delete, gh workflow run, gh secret set, glab mr create, glab mr merge
publishes: npm publish, pnpm publish, yarn publish, yarn npm publish, cargo publish, twine upload, gem push, docker push, podman push, helm install, helm upgrade, kubectl apply, kubectl delete, kubectl create, terraform apply, terraform destroy, tofu apply, tofu destroy, pulumi up, pulumi destroy, serverless deploy, vercel deploy, netlify deploy, fly deploy, flyctl deploy, firebase deploy, gcloud app deploy, aws s3, mail, sendmail, mutt
elevates:  sudo, doas, su, pkexec, runuser, setpriv, unshare, nsenter, chroot
evaluates: sh, bash, dash, zsh, ksh, fish, python, python2, python3, node, deno, bun, ruby, perl, php, lua, luajit, Rscript, julia, tclsh, osascript, awk, gawk, mawk, nawk, eval, source, ., xargs, parallel, make, gmake, cmake, ninja, npx, bunx, uvx, just, task, tox, nox, invoke, rake, ant, mvn, gradle
endless:   watch, top, htop, less, more, man, vi, vim, nvim, nano, emacs, tail -f, tail -F, yes
`

var effects = sync.OnceValue(func() map[string][]Effect {
	m := map[string][]Effect{}
	for line := range strings.Lines(effectTable) {
		effect, names, _ := strings.Cut(line, ":")
		for name := range strings.SplitSeq(names, ",") {
			name = strings.TrimSpace(name)
			m[name] = append(m[name], Effect(effect))
		}
	}
	return m
})

// Effects returns what the command of a call is known to do, by its name, subcommand and first option.
func (c *Call) Effects() []Effect {
	name := c.Name()
	if name == "" {
		return nil
	}
	if ok, _ := c.ReadOnly(); ok {
		return []Effect{Looks}
	}
	out := append([]Effect(nil), effects()[name]...)
	for n := 1; n < len(c.Args) && n < 3 && c.Args[n].Literal(); n++ {
		name += " " + c.Args[n].Text
		out = append(out, effects()[name]...)
	}
	for i := range c.Redirects {
		if c.Redirects[i].Writes() {
			out = append(out, Writes)
			break
		}
	}
	return out
}

// Has reports whether the call is known to have an effect.
func (c *Call) Has(e Effect) bool {
	for _, x := range c.Effects() {
		if x == e {
			return true
		}
	}
	return false
}
