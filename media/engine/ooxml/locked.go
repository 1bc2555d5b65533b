package ooxml

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/richardlehane/mscfb"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/sheet"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// lockedMIME is a document, deck or workbook that is encrypted with a password: a container of the old kind around it.
const lockedMIME = "application/x-ole-encrypted"

// lockedOps are the verbs that open one.
var lockedOps = []string{"redact", "sanitize", "normalize", "update_text", "split", "extract.metadata", "extract.assets"}

// unlocked opens an encrypted file with the password of the step and does the step on what is in it. A result is not
// encrypted.
func unlocked(ctx context.Context, r *media.Request) (media.Result, error) {
	data, err := unlock(r)
	if err != nil {
		return media.Result{}, err
	}
	req := *r
	req.In = media.Identify(media.Payload{Data: data, Name: r.In.Name})
	do := func(context.Context, *media.Request) (media.Result, error) {
		return media.Result{}, media.Refusef("%s holds %s, with which this cannot be done.", r.In.Name, req.In.MIME)
	}
	switch req.In.MIME {
	case docxMIME, pptxMIME:
		e := Engine()
		for _, c := range e.Convert {
			if r.Op == "" && slices.Contains(c.To, r.To) && media.Matches(c.From, req.In.MIME) {
				do = c.Do
			}
		}
		for _, d := range e.Edit {
			if r.Op != "" && slices.Contains(d.Ops, r.Op) && media.Matches(d.Over, req.In.MIME) {
				do = d.Do
			}
		}
	case xlsxMIME, xlsmMIME:
		do = sheet.Do
	}
	res, err := do(ctx, &req)
	if err != nil {
		return res, err
	}
	if r.Op == "extract.metadata" {
		if m, ok := res.Read.Data.(map[string]any); ok {
			m["encrypted"], m["mime_type"], m["family"] = true, req.In.MIME, media.FamilyOf(req.In.MIME)
		}
		return res, nil
	}
	if m := res.Media; m != nil && r.Op != "" {
		if m.MIME == "" {
			m.MIME = req.In.MIME
		}
		res.Warnings = append(res.Warnings, "The result is not encrypted.")
	}
	if len(res.List) > 0 {
		res.Warnings = append(res.Warnings, "The results are not encrypted.")
	}
	return res, nil
}

// unlock decrypts a file (MS-OFFCRYPTO, standard and agile encryption).
func unlock(r *media.Request) ([]byte, error) {
	password, ok := r.Args["password"].(string)
	if !ok {
		e := media.Failf("%s is encrypted. Give its password.", r.In.Name)
		e.Use = strings.ReplaceAll(r.Op, ".", " ") + ` … password="secret"`
		if r.Op == "" {
			e.Use = "convert to=" + r.To + ` password="secret"`
		}
		return nil, e
	}
	var info, body []byte
	box, err := mscfb.New(bytes.NewReader(r.In.Data))
	for err == nil {
		var entry *mscfb.File
		if entry, err = box.Next(); err != nil {
			break
		}
		if len(entry.Path) > 0 {
			continue
		}
		switch entry.Name {
		case "EncryptionInfo":
			info, err = io.ReadAll(io.LimitReader(entry, 1<<20))
		case "EncryptedPackage":
			body, err = io.ReadAll(io.LimitReader(entry, int64(len(r.In.Data))))
		}
	}
	if !errors.Is(err, io.EOF) || len(info) < 8 || len(body) < 8 {
		return nil, media.Failf("%s is damaged: what tells of its encryption cannot be read.", r.In.Name)
	}
	var data []byte
	if info[0] == 4 && info[2] == 4 {
		data, err = agile(info[8:], body, password, r.Limits)
	} else {
		data, err = standard(info, body, password)
	}
	switch {
	case errors.Is(err, errPassword):
		return nil, media.Failf("the password does not open %s.", r.In.Name)
	case err != nil:
		return nil, media.Failf("%s cannot be opened: %v.", r.In.Name, err)
	}
	return data, nil
}

var (
	errPassword = errors.New("wrong password")
	errCrypto   = errors.New("its encryption is of a kind that is not known, or damaged")
)

func wideBytes(s string) []byte {
	var out []byte
	for _, c := range utf16.Encode([]rune(s)) {
		out = append(out, byte(c), byte(c>>8))
	}
	return out
}

// spun hashes a password many times.
func spun(h func() hash.Hash, salt []byte, password string, spins int) []byte {
	sum := h()
	sum.Write(salt)
	sum.Write(wideBytes(password))
	k := sum.Sum(nil)
	var n [4]byte
	for i := range spins {
		binary.LittleEndian.PutUint32(n[:], uint32(i))
		sum.Reset()
		sum.Write(n[:])
		sum.Write(k)
		k = sum.Sum(k[:0])
	}
	return k
}

// sized cuts or pads a key.
func sized(k []byte, n int) []byte {
	k = slices.Clone(k)
	for len(k) < n {
		k = append(k, 0x36)
	}
	return k[:n]
}

// sizeOf cuts decrypted data to the length that stands before it.
func sizeOf(body, plain []byte) ([]byte, error) {
	n := binary.LittleEndian.Uint64(body)
	if n > uint64(len(plain)) {
		return nil, errCrypto
	}
	return plain[:n], nil
}

// standard is the older kind: SHA-1 and AES without chaining.
func standard(info, body []byte, password string) ([]byte, error) {
	if len(info) < 12 || info[2] != 2 {
		return nil, errCrypto
	}
	size := int(binary.LittleEndian.Uint32(info[8:]))
	if size < 32 || 12+size+4+16+16+4+32 > len(info) {
		return nil, errCrypto
	}
	bits := int(binary.LittleEndian.Uint32(info[12+16:]))
	v := info[12+size:]
	if bits != 128 && bits != 192 && bits != 256 || binary.LittleEndian.Uint32(v) != 16 {
		return nil, errCrypto
	}
	k := sha1.Sum(append(spun(sha1.New, v[4:20], password, 50_000), 0, 0, 0, 0))
	var key []byte
	for _, pad := range []byte{0x36, 0x5c} {
		block := bytes.Repeat([]byte{pad}, 64)
		for i := range k {
			block[i] ^= k[i]
		}
		x := sha1.Sum(block)
		key = append(key, x[:]...)
	}
	c, err := aes.NewCipher(key[:bits/8])
	if err != nil {
		return nil, errCrypto
	}
	plain := func(b []byte) []byte {
		out := make([]byte, len(b)/16*16)
		for i := 0; i < len(out); i += 16 {
			c.Decrypt(out[i:], b[i:])
		}
		return out
	}
	if sum := sha1.Sum(plain(v[20:36])); !bytes.Equal(sum[:], plain(v[40:72])[:20]) {
		return nil, errPassword
	}
	return sizeOf(body, plain(body[8:]))
}

// key is what the description says of one of its keys.
type cryptKey struct {
	salt        []byte
	block, bits int
	hash        func() hash.Hash
	node        *tree.Node
}

func readKey(n *tree.Node) (k cryptKey, err error) {
	if n == nil || n.Get("cipherAlgorithm") != "AES" || n.Get("cipherChaining") != "ChainingModeCBC" {
		return k, errCrypto
	}
	k.node = n
	k.block, _ = strconv.Atoi(n.Get("blockSize"))
	k.bits, _ = strconv.Atoi(n.Get("keyBits"))
	k.salt, err = base64.StdEncoding.DecodeString(n.Get("saltValue"))
	k.hash = map[string]func() hash.Hash{"SHA1": sha1.New, "SHA256": sha256.New, "SHA384": sha512.New384, "SHA512": sha512.New}[n.Get("hashAlgorithm")]
	if err != nil || k.block != aes.BlockSize || k.hash == nil || len(k.salt) == 0 || k.bits != 128 && k.bits != 192 && k.bits != 256 {
		return k, errCrypto
	}
	return k, nil
}

func (k *cryptKey) sum(parts ...[]byte) []byte {
	h := k.hash()
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

func cbc(key, iv, b []byte) ([]byte, error) {
	c, err := aes.NewCipher(key)
	if err != nil || len(b)%aes.BlockSize != 0 || len(b) == 0 {
		return nil, errCrypto
	}
	out := make([]byte, len(b))
	cipher.NewCBCDecrypter(c, sized(iv, aes.BlockSize)).CryptBlocks(out, b)
	return out, nil
}

// maxSpins bounds how often a password is hashed because a file says so.
const maxSpins = 2_000_000

// agile is the kind of today: described in XML, with a check of the whole.
func agile(info, body []byte, password string, lim media.Limits) ([]byte, error) {
	root, err := tree.Parse("EncryptionInfo", info, map[string]string{"http://schemas.microsoft.com/office/2006/encryption": "", "http://schemas.microsoft.com/office/2006/keyEncryptor/password": "p"}, lim)
	if err != nil {
		return nil, errCrypto
	}
	data, err := readKey(root.Child("keyData"))
	if err != nil {
		return nil, err
	}
	lock, err := readKey(find(root, "p:encryptedKey"))
	if err != nil {
		return nil, err
	}
	spins, err := strconv.Atoi(lock.node.Get("spinCount"))
	if err != nil || spins < 0 || spins > maxSpins {
		return nil, errCrypto
	}
	k := spun(lock.hash, lock.salt, password, spins)
	open := func(attr string, block ...byte) ([]byte, error) {
		b, err := base64.StdEncoding.DecodeString(lock.node.Get(attr))
		if err != nil {
			return nil, errCrypto
		}
		return cbc(sized(lock.sum(k, block), lock.bits/8), lock.salt, b)
	}
	input, err := open("encryptedVerifierHashInput", 0xfe, 0xa7, 0xd2, 0x76, 0x3b, 0x4b, 0x9e, 0x79)
	if err != nil {
		return nil, err
	}
	value, err := open("encryptedVerifierHashValue", 0xd7, 0xaa, 0x0f, 0x6d, 0x30, 0x61, 0x34, 0x4e)
	if err != nil {
		return nil, err
	}
	if sum := lock.sum(input[:min(len(input), len(lock.salt))]); !bytes.HasPrefix(value, sum) {
		return nil, errPassword
	}
	key, err := open("encryptedKeyValue", 0x14, 0x6e, 0x0b, 0xe7, 0xab, 0xac, 0xd0, 0xd6)
	if err != nil || len(key) < data.bits/8 {
		return nil, errCrypto
	}
	key = key[:data.bits/8]
	if err := data.intact(root.Child("dataIntegrity"), key, body); err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(body))
	var n [4]byte
	for i := 0; 8+i*4096 < len(body); i++ {
		binary.LittleEndian.PutUint32(n[:], uint32(i))
		piece := body[8+i*4096 : min(len(body), 8+(i+1)*4096)]
		plain, err := cbc(key, data.sum(data.salt, n[:]), piece[:len(piece)/16*16])
		if err != nil {
			return nil, err
		}
		out = append(out, plain...)
	}
	return sizeOf(body, out)
}

// intact holds the file to the sum that was made when it was encrypted.
func (k *cryptKey) intact(n *tree.Node, key, body []byte) error {
	if n == nil {
		return nil // older files have none
	}
	open := func(attr string, block ...byte) ([]byte, error) {
		b, err := base64.StdEncoding.DecodeString(n.Get(attr))
		if err != nil {
			return nil, errCrypto
		}
		return cbc(key, k.sum(k.salt, block), b)
	}
	secret, err := open("encryptedHmacKey", 0x5f, 0xb2, 0xad, 0x01, 0x0c, 0xb9, 0xe1, 0xf6)
	if err != nil {
		return err
	}
	want, err := open("encryptedHmacValue", 0xa0, 0x67, 0x7f, 0x02, 0xb2, 0x2c, 0x84, 0x33)
	if err != nil {
		return err
	}
	size := k.hash().Size()
	if len(secret) < size || len(want) < size {
		return errCrypto
	}
	mac := hmac.New(k.hash, secret[:size])
	mac.Write(body)
	if !hmac.Equal(mac.Sum(nil), want[:size]) {
		return errors.New("it was changed after it was encrypted")
	}
	return nil
}
