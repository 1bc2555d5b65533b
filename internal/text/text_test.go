package text_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"
	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/internal/text"
)

// utf16Bytes writes s as UTF-16 without going through the package under test.
func utf16Bytes(s string, big, bom bool) []byte {
	if bom {
		s = "\uFEFF" + s
	}
	var raw []byte
	for _, u := range utf16.Encode([]rune(s)) {
		if big {
			raw = append(raw, byte(u>>8), byte(u))
		} else {
			raw = append(raw, byte(u), byte(u>>8))
		}
	}
	return raw
}

func gbk(t testing.TB, s string) []byte {
	raw, err := simplifiedchinese.GBK.NewEncoder().String(s)
	if err != nil {
		t.Fatal(err)
	}
	return []byte(raw)
}

// F1: which encoding a file is found to have, and the text it holds.
func TestF1_Decode(t *testing.T) {
	plain := text.Encoding{}
	tests := []struct {
		name string
		raw  []byte
		want text.Encoding
		text string // "" with a non-empty raw: same bytes as raw
	}{
		{"empty", nil, plain, ""},
		{"ascii", []byte("package main\n"), plain, ""},
		{"utf-8", []byte("Füße 你好 🚀\n"), plain, ""},
		{"utf-8 that would also be fine GB18030", []byte("浣犲ソ"), plain, ""},
		{"escape sequences", []byte("\x1b[31mred\x1b[0m\b\f\n"), plain, ""},
		{"utf-8 with bom", []byte("\xEF\xBB\xBFusing System;\n"), text.Encoding{BOM: true}, "using System;\n"},
		{"only a bom", []byte("\xEF\xBB\xBF"), text.Encoding{BOM: true}, ""},
		{"utf-16 le with bom", utf16Bytes("héllo 🚀\r\n", false, true), text.Encoding{Charset: text.UTF16LE, BOM: true}, "héllo 🚀\r\n"},
		{"utf-16 be with bom", utf16Bytes("héllo 你好\n", true, true), text.Encoding{Charset: text.UTF16BE, BOM: true}, "héllo 你好\n"},
		{"utf-16 le without bom", utf16Bytes("name = value\r\n", false, false), text.Encoding{Charset: text.UTF16LE}, "name = value\r\n"},
		{"utf-16 be without bom", utf16Bytes("name = välue\n", true, false), text.Encoding{Charset: text.UTF16BE}, "name = välue\n"},
		{"gbk", gbk(t, "// 读取配置文件，返回错误\nfunc load() {}\n"), text.Encoding{Charset: text.GB18030}, "// 读取配置文件，返回错误\nfunc load() {}\n"},
		{"gbk, one word", gbk(t, "x = 1 # 注释\n"), text.Encoding{Charset: text.GB18030}, "x = 1 # 注释\n"},
		{"latin-1", []byte("caf\xe9 cr\xe8me na\xefve\n"), text.Encoding{Charset: text.Latin1}, "café crème naïve\n"},
		{"latin-1, german", []byte("Gr\xf6\xdfe und \xc4rger\n"), text.Encoding{Charset: text.Latin1}, "Größe und Ärger\n"},
		{"windows-1252 quotes", []byte("\x93smart\x94 \x96 quotes\n"), text.Encoding{Charset: text.Latin1}, "“smart” – quotes\n"},
		{"cyrillic 1251 is no chinese", []byte("# \xd2\xe5\xf1\xf2\xee\xe2\xfb\xe9 \xf4\xe0\xe9\xeb \xf1 \xea\xe8\xf0\xe8\xeb\xeb\xe8\xf6\xe5\xe9\n"), text.Encoding{Charset: text.Latin1}, "# Òåñòîâûé ôàéë ñ êèðèëëèöåé\n"},
		{"utf-8 with accidents", []byte("名前 = \"\xff\xfe\" 値\n"), text.Encoding{Charset: text.Broken}, ""},
		{"bom and accidents", []byte("\xEF\xBB\xBFa\xffb"), text.Encoding{Charset: text.Broken, BOM: true}, "a\xffb"},
		{"nul behind the start", append(bytes.Repeat([]byte("log line\n"), 1000), 0, 0, 0), plain, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := text.Decode(tt.raw)
			if err != nil {
				t.Fatal(err)
			}
			want := tt.text
			if want == "" && !got.Encoding.BOM {
				want = string(tt.raw)
			}
			if got.Encoding != tt.want || string(got.Content) != want {
				t.Errorf("got %v %q, want %v %q", got.Encoding, got.Content, tt.want, want)
			}
			back, err := got.Encoding.Encode(got.Content)
			if err != nil || !bytes.Equal(back, tt.raw) {
				t.Errorf("encoded back: % x, %v", back, err)
			}
		})
	}
}

// F1: binary is decided on raw bytes.
func TestF1_Binary(t *testing.T) {
	for name, raw := range map[string][]byte{
		"nul":                    []byte("MZ\x90\x00\x03\x00"),
		"nul behind a utf-8 bom": []byte("\xEF\xBB\xBFa\x00b"),
		"utf-32":                 []byte("\xFF\xFE\x00\x00a\x00\x00\x00"),
		"small odd":              []byte("a\x00b"),
		"one nul in ascii":       []byte("hello\x00world, this is text otherwise"),
		"nul on both sides":      []byte("a\x00\x00b\x00c\x00\x00"),
		"compressed":             []byte("\x1f\x8b\x08\xff\x01\x02\x03\x04\x80\x81\xfe\xfa\x05\x06\x11\x12"),
	} {
		if e := text.Detect(raw, true); e.Charset != text.Binary {
			t.Errorf("%s: %v", name, e)
		}
		if _, err := text.Decode(raw); !errors.Is(err, text.ErrBinary) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// F1: an incomplete last character of a sample does not count.
func TestF1_DetectSample(t *testing.T) {
	full := []byte(strings.Repeat("价格：一百元。", 50))
	for n := range len(full) {
		if e := text.Detect(full[:n], false); e.Charset != text.UTF8 {
			t.Fatalf("first %d bytes: %v", n, e)
		}
	}
	if e := text.Detect(full[:len(full)-1], true); e.Charset != text.Broken {
		t.Errorf("as a whole file: %v", e)
	}
	g := gbk(t, strings.Repeat("读取配置文件", 20))
	for n := 2; n < len(g); n++ {
		if e := text.Detect(g[:n], false); e.Charset != text.GB18030 {
			t.Fatalf("first %d bytes of gbk: %v", n, e)
		}
	}
	u := utf16Bytes("some text here", false, true)
	if e := text.Detect(u[:7], false); e.Charset != text.UTF16LE {
		t.Errorf("odd sample of utf-16: %v", e)
	}
}

func TestF1_CharErrors(t *testing.T) {
	decode := []struct {
		raw  []byte
		want string
	}{
		{append(utf16Bytes("a\nb", false, true), 0x00, 0xD8, 'x', 0), "line 2, byte 8: 00 d8 is not valid UTF-16LE with BOM"},
		{append(utf16Bytes("abc", true, true), 'z'), "line 1, byte 8: 7a is not valid UTF-16BE with BOM"},
	}
	for _, tt := range decode {
		_, err := text.Decode(tt.raw)
		var ce *text.CharError
		if !errors.As(err, &ce) || !ce.Decoding || err.Error() != tt.want {
			t.Errorf("decode % x: %v, want %s", tt.raw, err, tt.want)
		}
	}
	encode := []struct {
		charset text.Charset
		content string
		want    string
	}{
		{text.Latin1, "ok\nprice 5 € →", "line 2, byte 15: '→' (U+2192) does not exist in Windows-1252"},
		{text.Latin1, "a\xffb", "line 1, byte 1: invalid UTF-8 cannot be written as Windows-1252"},
		{text.GB18030, "好\n\xff", "line 2, byte 4: invalid UTF-8 cannot be written as GB18030"},
		{text.GB18030, "好\n名\ue000", "line 2, byte 7: '\\ue000' (U+E000) does not exist in GB18030"},
		{text.UTF16LE, "x\xc3", "line 1, byte 1: invalid UTF-8 cannot be written as UTF-16LE"},
		{text.Binary, "x", "binary, not text"},
	}
	for _, tt := range encode {
		_, err := text.Encoding{Charset: tt.charset}.Encode([]byte(tt.content))
		if err == nil || err.Error() != tt.want {
			t.Errorf("encode %q as %v: %v, want %s", tt.content, tt.charset, err, tt.want)
		}
	}
	if s := text.Charset(99).String(); s != "charset 99" {
		t.Error(s)
	}
}

// F3: whatever Decode accepts comes back byte for byte; random bytes included.
func TestF3_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.OneOf(rapid.ByteRange(0x20, 0x7E), rapid.ByteRange(0x81, 0xFE), rapid.SampledFrom([]byte("\n\r\t\x00"))), 0, 40).Draw(t, "raw")
		if mark := rapid.SampledFrom([]string{"", "\xEF\xBB\xBF", "\xFF\xFE", "\xFE\xFF"}).Draw(t, "bom"); mark != "" {
			raw = append([]byte(mark), raw...)
		}
		checkRoundTrip(t, raw)
	})
	var all []byte
	for b := 255; b > 0; b-- {
		all = append(all, byte(b), ' ', 'a', 'b', 'c')
	}
	checkRoundTrip(t, bytes.ReplaceAll(all, []byte("\x01"), nil))
}

type fataler interface{ Fatalf(string, ...any) }

func checkRoundTrip(t fataler, raw []byte) {
	got, err := text.Decode(raw)
	if err != nil {
		return
	}
	if got.Encoding.Charset != text.Broken && !utf8.Valid(got.Content) {
		t.Fatalf("%v: content is not UTF-8: %q", got.Encoding, got.Content)
	}
	if got.Encoding.Plain() && len(raw) > 0 && &raw[0] != &got.Content[0] {
		t.Fatalf("plain content was copied")
	}
	back, err := got.Encoding.Encode(got.Content)
	if err != nil || !bytes.Equal(back, raw) {
		t.Fatalf("%v: % x became % x (%v)", got.Encoding, raw, back, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("plain\n"))
	f.Add([]byte("\xFF\xFEa\x00\x00\xD8"))
	f.Add([]byte("\xc4\xe3\xba\xc3"))
	f.Add([]byte("\x80\x81\x82"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		checkRoundTrip(t, raw)
		text.Detect(raw, false)
	})
}

func BenchmarkDecode1MB(b *testing.B) {
	raw := bytes.Repeat([]byte("\tif err := run(ctx, args); err != nil { // Füße\n"), 1<<20/48)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := text.Decode(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIndex1MB(b *testing.B) {
	raw := bytes.Repeat([]byte("\tif err := run(ctx, args); err != nil {\n"), 1<<20/40)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		text.Index(raw)
	}
}
