package command_test

import (
	"fmt"

	"github.com/tackle-dev/tackle/command"
)

func ExampleParse() {
	facts, err := command.Parse(`timeout 60 bash -c 'cd src && go test "$PKG"' > log`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range facts.Calls {
		fmt.Printf("%-12s %s\n", c.Via, c.String())
	}
	// Output:
	//              timeout 60 bash -c 'cd src && go test "$PKG"' >log
	// wrapper      bash -c 'cd src && go test "$PKG"' >log
	// script       cd src >log
	// script       go test "$PKG" >log
}

func ExampleReadOnly() {
	for _, line := range []string{"grep -rn main src | head", "sort -uo out in", "git status"} {
		ok, reason := command.ReadOnly(line)
		fmt.Printf("%s: %v (%s)\n", line, ok, reason)
	}
	// Output:
	// grep -rn main src | head: true ()
	// sort -uo out in: false (sort: option -o in -uo)
	// git status: false (not on the list of commands that only look: git)
}

func ExamplePattern() {
	p, err := command.ParsePattern(`["git", ["status", "diff"], "..."]`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, line := range []string{"git diff --stat", "timeout 5 git diff", "git diff > out"} {
		facts, err := command.Parse(line)
		if err != nil {
			fmt.Println(err)
			return
		}
		allowed := true
		for _, i := range facts.Parts() {
			allowed = allowed && p.Allows(&facts, i)
		}
		fmt.Println(line, allowed)
	}
	// Output:
	// git diff --stat true
	// timeout 5 git diff true
	// git diff > out false
}
