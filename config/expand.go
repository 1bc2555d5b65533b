package config

import (
	"fmt"
	"strings"
)

// expand puts environment variables in: ${NAME}, and ${NAME:-default} for a variable that is unset or empty. "$${" is a
// literal "${"; a "$" without a brace means itself. What is put in is not expanded again.
func expand(s string, env func(string) (string, bool)) (string, error) {
	var b strings.Builder
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			b.WriteString(s)
			return b.String(), nil
		}
		if i > 0 && s[i-1] == '$' {
			b.WriteString(s[:i-1] + "${")
			s = s[i+2:]
			continue
		}
		b.WriteString(s[:i])
		name, fallback, hasFallback, rest, err := reference(s[i:])
		if err != nil {
			return "", err
		}
		value, ok := env(name)
		switch {
		case hasFallback && value == "":
			value = fallback
		case !ok:
			return "", fmt.Errorf("the environment variable %s is not set; set it, or write ${%s:-default} (${%s:-} for nothing)", name, name, name)
		}
		b.WriteString(value)
		s = rest
	}
}

// reference reads one reference at the start of s.
func reference(s string) (name, fallback string, hasFallback bool, rest string, err error) {
	end := strings.IndexByte(s, '}')
	if end < 0 {
		return "", "", false, "", fmt.Errorf(`"${" is not closed with "}" (write "$${" for the characters)`)
	}
	name, fallback, hasFallback = strings.Cut(s[2:end], ":-")
	if !isVariable(name) {
		return "", "", false, "", fmt.Errorf("%q is not the name of an environment variable (write \"$${\" for the characters \"${\")", name)
	}
	return name, fallback, hasFallback, s[end+1:], nil
}

func isVariable(name string) bool {
	for i, r := range name {
		if r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}
