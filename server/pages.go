package server

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tackle-dev/tackle/server/internal/access"
)

// pages is what people see at "/".
func (s *Server) pages() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			refuse(w, r, http.StatusNotFound, "there is no such page")
			return
		}
		var b strings.Builder
		fmt.Fprintf(&b, "tackle %s: %s\n\n", s.cfg.Version, access.From(r.Context()))
		for _, rt := range s.routes {
			fmt.Fprintf(&b, "%-6s %-44s %s\n", rt.method, rt.path, rt.summary)
		}
		plain(w, http.StatusOK, strings.TrimSuffix(b.String(), "\n"))
	})
}
