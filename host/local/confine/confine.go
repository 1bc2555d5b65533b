// Package confine starts a program that has no network and sees the files of the system and those it was given, and no
// others. It is for programs that read what nobody trusts, such as the converters of media.
//
// A confined program is started by way of this very program, whose main calls [Main] first: it gives up what the program
// must not have, for good, and then becomes the program. What is given up is given up by the whole tree.
//
// On Linux files are held by Landlock (5.13 or later) and the network by a filter of system calls; neither needs a right of
// its own. Elsewhere nothing is held, and [Here] says so.
package confine

import (
	"encoding/json"
	"os"
)

// Rules say what a program may do, beside reading and running what the system keeps for all programs.
type Rules struct {
	Read     []string // files and folders, absolute
	Write    []string // folders, absolute, in which it also reads, makes and removes, and runs nothing
	Sockets  bool     // it talks to itself over sockets in the file system; those that it makes lie in /tmp
	FileSize int64    // bytes of each file that it writes; 0 is no limit
	Env      []string // names of variables that it keeps
}

// Holds says what is held here.
type Holds struct {
	Network bool   // it has no network
	Files   bool   // it sees no files of the user but those it was given
	Reason  string // why not everything is held; "" where it is
}

// String returns a sentence for doctor.
func (h Holds) String() string {
	switch {
	case h.Network && h.Files:
		return "confined: no network, and no files but the one they are given"
	case h.Network:
		return "confined in part: no network; they can read what you can read (" + h.Reason + ")"
	case h.Files:
		return "confined in part: no files but the one they are given; the network is held off by their own options only (" + h.Reason + ")"
	}
	return "not confined: their own options keep them from the network (" + h.Reason + ")"
}

// variable holds the rules for the process that becomes the program.
const variable = "TACKLE_CONFINE"

// called is whether main calls Main: a program that does not would start itself without end.
var called bool

// Main becomes a confined program, and never returns, if this process was started for one; otherwise it does nothing. A
// program that confines others calls it first in main, beside proc.KeeperMain.
func Main() {
	called = true
	text := os.Getenv(variable)
	if text == "" {
		return
	}
	err := become(text)
	os.Stderr.WriteString("tackle: the program could not be confined and was not started: " + err.Error() + "\n")
	os.Exit(126)
}

// Here says what would be held on this machine. It starts nothing and gives nothing up.
func Here() Holds {
	if !called {
		return Holds{Reason: "this program does not call confine.Main first in its main"}
	}
	return here()
}

// Command returns the command line and the variable that start a program confined. The program is an absolute path. It is
// for this machine, and for where [Here] says that something is held.
func Command(r Rules, argv []string) ([]string, map[string]string, error) {
	text, err := json.Marshal(r)
	return append([]string{selfPath}, argv...), map[string]string{variable: string(text)}, err
}
