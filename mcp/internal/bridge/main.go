// Command bridge serves a stdio MCP server over streamable HTTP, so that a checker that only speaks HTTP can test it:
//
//	bridge -http localhost:3300 -- ./server arguments
//
// In the older era each session gets a child of its own. In the newer one all requests go to one child, under ids of our
// own. What only HTTP has (headers, sessions) is the bridge's; what the server answers is passed through as it is.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"
)

func main() {
	addr := flag.String("http", "localhost:3300", "address")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*addr, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "bridge:", err)
		os.Exit(1)
	}
}

func run(addr string, argv []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b := &bridge{ctx: ctx, argv: argv}
	srv := &http.Server{Addr: addr, Handler: b, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- srv.ListenAndServe() }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return srv.Close()
	}
}

// local reports whether a request addresses this machine and comes from no foreign page.
func local(r *http.Request) bool {
	for _, h := range []string{r.Host, strings.TrimPrefix(r.Header.Get("Origin"), "http://")} {
		if host, _, err := net.SplitHostPort(h); err == nil {
			h = host
		}
		switch h {
		case "", "localhost", "127.0.0.1", "::1", "[::1]":
		default:
			return false
		}
	}
	return true
}
