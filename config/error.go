package config

import (
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/permission"
)

// Error is a mistake in one place of the configuration. Values that were put in for ${NAME} are never quoted.
type Error struct {
	Origin Origin
	Path   string // of the setting, such as "output.lines"; may be empty
	Reason string // the fact, and what to write instead
}

func (e *Error) Error() string {
	var parts []string
	for _, p := range [...]string{e.Origin.String(), e.Path, e.Reason} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, ": ")
}

// The layers, weakest first. What no layer sets has the built-in default.
const (
	LayerBuiltIn     = "built-in"
	LayerUser        = permission.User
	LayerProject     = permission.Project
	LayerEnvironment = "environment"
	LayerFlags       = "flags"
	LayerProgram     = "program" // a Config written in Go
)

// Origin says where a value was set.
type Origin struct {
	Layer  string `json:"layer"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"` // 1-based
	Column int    `json:"column,omitempty"`
	Name   string `json:"name,omitempty"` // of the variable or the flag's setting
}

// String returns file:line:column, or the name of the variable or flag.
func (o Origin) String() string {
	switch {
	case o.File != "":
		return permission.Source{File: o.File, Line: o.Line, Column: o.Column}.String()
	case o.Layer == LayerFlags && o.Name != "":
		return fmt.Sprintf("flag for %s", o.Name)
	case o.Name != "":
		return o.Name
	}
	return o.Layer
}
