// Command mcp (in bench) compares MCP servers as their clients meet them: start, memory, size of the tool list, latency
// and processor time of reads and edits, calls per second with many in flight.
//
// Every server runs once per round, so that noise from the machine meets all of them alike; the table shows medians over
// the rounds. The client speaks JSON-RPC itself, so that it costs little.
//
//	go build -o /tmp/mcpbench ./bench/mcp
//	/tmp/mcpbench -rounds 5 -dir /tmp/w \
//	    -server 'tackle=tackle:./tackle mcp' \
//	    -server 'filesystem=filesystem:node …/server-filesystem/dist/index.js /tmp/w'
//
// A server is NAME=PRESET:COMMAND, where the preset says how its tools are called, or NAME=PRESET:http://… for a server
// that runs already, and whose memory and processor time are those of -pid.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
)

// server is one competitor.
type server struct {
	name   string
	preset preset
	target string // a command line, or a URL
}

type servers []server

func (s *servers) String() string { return fmt.Sprint(len(*s), " servers") }

// Set parses NAME=PRESET:TARGET.
func (s *servers) Set(v string) error {
	name, rest, ok := strings.Cut(v, "=")
	kind, target, ok2 := strings.Cut(rest, ":")
	if !ok || !ok2 || name == "" || target == "" {
		return errors.New("want NAME=PRESET:COMMAND")
	}
	p, known := presets[kind]
	if !known {
		return fmt.Errorf("preset %q is not one of tackle, filesystem, desktop-commander", kind)
	}
	*s = append(*s, server{name, p, target})
	return nil
}

func main() {
	var list servers
	var load load
	flag.Var(&list, "server", "NAME=PRESET:COMMAND or NAME=PRESET:URL; may be repeated")
	rounds := flag.Int("rounds", 5, "rounds in which each server runs once")
	flag.StringVar(&load.dir, "dir", "", "workspace directory (made if absent)")
	flag.IntVar(&load.starts, "starts", 3, "process starts per round")
	flag.IntVar(&load.reads, "reads", 1000, "sequential reads per round")
	flag.IntVar(&load.edits, "edits", 300, "sequential edits per round; 0 for none")
	flag.IntVar(&load.width, "width", 16, "callers at once")
	flag.IntVar(&load.wide, "wide", 3200, "reads with many callers, per round")
	flag.IntVar(&load.pid, "pid", 0, "process of a server that is given as a URL")
	flag.BoolVar(&load.modern, "modern", false, "speak revision 2026-07-28 over HTTP")
	token := flag.String("token", "", "bearer token for URLs")
	flag.BoolVar(&load.verbose, "v", false, "pass the servers' standard error through")
	flag.Parse()
	if len(list) == 0 || load.dir == "" {
		flag.Usage()
		os.Exit(2)
	}
	load.token = *token
	t := newTable()
	for range *rounds {
		for _, s := range list {
			if err := load.round(s, t.column(s.name)); err != nil {
				fmt.Fprintf(os.Stderr, "mcpbench: %s: %v\n", s.name, err)
				os.Exit(1)
			}
		}
	}
	t.print(os.Stdout)
}
