package artifact

import (
	"context"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"strings"
)

// Ids are "a" and the first characters of the digest in Crockford's base 32, which leaves out i, l, o and u. Six
// characters are enough for a store of some ten thousand artifacts; where two begin alike the newer one gets more.
const (
	alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	minID    = 6
)

// ParseID returns the id in "a7k2m9x", "artifact:a7k2m9x" or "@artifact:a7k2m9x", in any case, with the letters that
// people confuse set right (o is 0, i and l are 1), and whether it looks like one.
func ParseID(s string) (id string, ok bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	s = strings.TrimPrefix(strings.TrimPrefix(s, "@"), "artifact:")
	s = strings.NewReplacer("o", "0", "i", "1", "l", "1").Replace(s)
	if len(s) < 1+minID || s[0] != 'a' {
		return "", false
	}
	for _, c := range s[1:] {
		if !strings.ContainsRune(alphabet, c) {
			return "", false
		}
	}
	return s, true
}

// idFor returns the id of a digest: the one that it has, or the shortest that no other digest has.
func (s *Store) idFor(ctx context.Context, digest string) (string, error) {
	sum, err := hex.DecodeString(digest)
	if err != nil {
		return "", fmt.Errorf("digest %q of a blob: %w", digest, err)
	}
	text := base32.NewEncoding(alphabet).WithPadding(base32.NoPadding).EncodeToString(sum)
	for n := minID; n < len(text); n++ {
		id := "a" + text[:n]
		refs, err := s.refs(ctx, id)
		if err != nil {
			return "", err
		}
		if len(refs) == 0 || refs[0].Digest == digest {
			return id, nil
		}
	}
	return "a" + text, nil
}
