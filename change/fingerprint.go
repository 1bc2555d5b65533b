package change

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// Fingerprint returns a lower-case hex SHA-256 over everything that the set would do: for each operation in order its
// kind, its paths, and type, permission bits, content digest and link target before and after. Two sets have the same
// fingerprint exactly when a host would do the same with them. An answer of a person binds to it.
// It costs no pass over contents whose digests are known.
func (s *Set) Fingerprint() string {
	h := fingerprint{sha256.New()}
	h.str("changeset 1") // the layout below; another one needs another name
	if s != nil {
		for _, op := range s.Ops {
			h.num(uint64(op.Kind))
			h.str(op.Path)
			h.str(op.To)
			h.state(op.Before)
			h.state(op.After)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

type fingerprint struct{ hash.Hash }

func (h fingerprint) num(n uint64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	h.Write(b[:])
}

func (h fingerprint) str(s string) {
	h.num(uint64(len(s)))
	h.Write([]byte(s))
}

func (h fingerprint) state(s State) {
	h.num(uint64(s.Type))
	h.num(uint64(s.Mode))
	h.str(s.Target)
	d := s.Blob.Digest()
	h.Write(d[:])
}
