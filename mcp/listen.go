package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Times of the HTTP server. There is no limit on writing, because streams stay open.
const (
	headerTime   = 10 * time.Second
	idleTime     = 5 * time.Minute
	shutdownTime = 5 * time.Second
)

// Listen opens an address for Serve: "host:port", ":port" (which means the loopback address), or "unix:/path". Any host
// but a loopback one needs public. A socket is made with mode 0600 in a folder that must belong to the user alone, and
// where the system tells, it takes connections of this user only.
func Listen(addr string, public bool) (net.Listener, error) {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		return listenUnix(path)
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("mcp: address %q: %w", addr, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if !public && !loopback(host) {
		return nil, fmt.Errorf("mcp: address %q can be reached from other machines; say so explicitly, and let clients come through TLS", addr)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	return l, nil
}

func listenUnix(path string) (net.Listener, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("mcp: folder of the socket: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("mcp: folder of the socket: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("mcp: socket %s: its folder has mode %#o; others could take its place, want 0700", path, info.Mode().Perm())
	}
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		return nil, fmt.Errorf("mcp: socket %s: another server listens there", path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("mcp: stale socket: %w", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, fmt.Errorf("mcp: socket: %w", err)
	}
	return sameUser{l}, nil
}

// sameUser takes only connections of the user that runs the server.
type sameUser struct{ net.Listener }

// Accept is described at net.Listener.
func (l sameUser) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if uid, ok := peerUser(c); !ok || uid == os.Geteuid() {
			return c, nil
		}
		c.Close()
	}
}

// Serve serves a handler until ctx ends, then lets requests end for a few seconds. log may be nil.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger) error {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	srv := &http.Server{Handler: h, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn), BaseContext: func(net.Listener) context.Context { return requests }}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("mcp: serve: %w", err)
	case <-ctx.Done():
	}
	soon, stop := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer stop()
	if err := srv.Shutdown(soon); err != nil { // streams that stay open do not end by themselves
		cancel()
		srv.Close()
	}
	<-failed
	return nil
}
