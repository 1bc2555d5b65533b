package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
)

// csrf is what a page of a login sends, computed as documented.
func csrf(cookie string) string {
	m := hmac.New(sha256.New, []byte(cookie))
	m.Write([]byte("csrf"))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}
