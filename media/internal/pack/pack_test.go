package pack

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media"
	"pgregory.net/rapid"
)

func open(t *testing.T, data []byte, lim media.Limits) (*File, error) {
	t.Helper()
	return Open(&media.Payload{Data: data, Name: "a.zip"}, lim)
}

func create(t *testing.T, ms ...Member) []byte {
	t.Helper()
	data, err := Create(ms...)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	if e, ok := err.(*media.Error); !ok || !strings.Contains(e.Message, want) {
		t.Errorf("got %v, want a refusal with %q", err, want)
	}
}

func TestMED001_NamesThatArePaths(t *testing.T) {
	for _, name := range []string{"../x", "/etc/x", `..\x`, "C:/x", "a/../../x", "a/./b", "a//b", `a\b`} {
		_, err := open(t, create(t, Member{Name: name, Data: []byte("x")}), media.Limits{})
		refused(t, err, "no plain relative name")
	}
	if _, err := open(t, create(t, Member{Name: "xl/"}, Member{Name: "[Content_Types].xml"}, Member{Name: "xl/a b.xml"}), media.Limits{}); err != nil {
		t.Error(err)
	}
}

func TestMED003_Bombs(t *testing.T) {
	zeros := make([]byte, 8<<20)
	bomb := create(t, Member{Name: "a", Data: zeros})
	f, err := open(t, bomb, media.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Read("a")
	refused(t, err, "times its size")

	if f, err = open(t, bomb, media.Limits{Unpacked: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	_, err = f.Read("a")
	refused(t, err, "unpacks to more than the 1 MB")

	// All members count together.
	text := bytes.Repeat([]byte("some words that do not shrink that much 0123456789 "), 5000)
	if f, err = open(t, create(t, Member{Name: "a", Data: text, Plain: true}, Member{Name: "b", Data: text, Plain: true}), media.Limits{Unpacked: int64(len(text)) + 10}); err != nil {
		t.Fatal(err)
	}
	if _, err = f.Read("a"); err != nil {
		t.Error(err)
	}
	_, err = f.Read("b")
	refused(t, err, "unpacks to more than")

	// A size that lies low is no way around it.
	lying := bytes.Clone(bomb)
	at := bytes.LastIndex(lying, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(lying[at+24:], 10)
	if f, err = open(t, lying, media.Limits{}); err == nil {
		if b, err := f.Read("a"); err == nil {
			t.Errorf("read %d bytes of a member that says it has 10", len(b))
		}
	}

	many := make([]Member, 30)
	for i := range many {
		many[i].Name = strings.Repeat("x", i+1)
	}
	_, err = open(t, create(t, many...), media.Limits{Members: 20})
	refused(t, err, "30 members")

	_, err = open(t, create(t, Member{Name: "a"}, Member{Name: "a"}), media.Limits{})
	refused(t, err, "two members")
}

func TestMED003_OverlappingMembers(t *testing.T) {
	data := create(t, Member{Name: "a", Data: []byte("0123456789"), Plain: true}, Member{Name: "b", Data: []byte("0123456789"), Plain: true})
	// Both entries of the directory point at the first member.
	at := bytes.LastIndex(data, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(data[at+42:], 0)
	_, err := open(t, data, media.Limits{})
	refused(t, err, "overlap")
}

func TestMED004_Entities(t *testing.T) {
	for _, tt := range []struct{ xml, want string }{
		{`<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "bb">]><a>&b;</a>`, "document type"},
		{`<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>`, "document type"},
		{strings.Repeat("<a>", 300), "nested deeper"},
		{`<a`, "no XML"},
		{`<?xml version="1.0" encoding="utf-7"?><a/>`, "not UTF-8"},
	} {
		refused(t, CheckXML("p.xml", []byte(tt.xml), media.Limits{}), tt.want)
	}
	if err := CheckXML("p.xml", []byte(`<?xml version="1.0" encoding="UTF-8"?><a x="1">&amp;&#65;</a>`), media.Limits{}); err != nil {
		t.Error(err)
	}
}

func TestDamaged(t *testing.T) {
	data := create(t, Member{Name: "a", Data: bytes.Repeat([]byte("abc "), 500)})
	for _, cut := range []int{0, 10, len(data) / 2, len(data) - 1} {
		_, err := open(t, data[:cut], media.Limits{})
		refused(t, err, "damaged")
	}
	flipped := bytes.Clone(data)
	flipped[60] ^= 0xff
	f, err := open(t, flipped, media.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Read("a")
	refused(t, err, "damaged")
}

// What is not changed is the same bytes, compressed ones and all.
func TestUntouchedMembersAreIdentical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ms []Member
		for i, text := range rapid.SliceOfN(rapid.String(), 1, 6).Draw(t, "members") {
			ms = append(ms, Member{Name: string(rune('a' + i)), Data: []byte(text), Plain: rapid.Bool().Draw(t, "plain")})
		}
		data, err := Create(ms...)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Open(&media.Payload{Data: data, Name: "x"}, media.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		change := map[string][]byte{"new": []byte("n")}
		for _, m := range ms {
			switch rapid.IntRange(0, 2).Draw(t, "fate") {
			case 1:
				change[m.Name] = []byte("changed")
			case 2:
				change[m.Name] = nil
			}
		}
		out, err := f.Rewrite(change)
		if err != nil {
			t.Fatal(err)
		}
		g, err := zip.NewReader(bytes.NewReader(out), int64(len(out)))
		if err != nil {
			t.Fatal(err)
		}
		raw := func(m *zip.File) string {
			r, err := m.OpenRaw()
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if _, err := b.ReadFrom(r); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		left := map[string]*zip.File{}
		for _, m := range g.File {
			left[m.Name] = m
		}
		for _, m := range f.zip.File {
			want, changed := change[m.Name]
			got := left[m.Name]
			switch {
			case changed && want == nil:
				if got != nil {
					t.Fatalf("%s is still there", m.Name)
				}
			case !changed && (got == nil || raw(got) != raw(m) || got.CRC32 != m.CRC32 || got.Method != m.Method):
				t.Fatalf("%s is not what it was", m.Name)
			}
		}
	})
}

// Work that nobody waits for any more unpacks nothing and writes nothing.
func TestContainersEndWithTheirContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f, err := open(t, create(t, Member{Name: "a", Data: bytes.Repeat([]byte("words "), 1<<20), Plain: true}), media.Limits{}.During(ctx))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := f.Read("a"); !errors.Is(err, context.Canceled) {
		t.Errorf("read: %v", err)
	}
	if _, err := f.Rewrite(map[string][]byte{"b": []byte("x")}); !errors.Is(err, context.Canceled) {
		t.Errorf("rewrite: %v", err)
	}
}
