package ooxml

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/tackle-dev/tackle/media"
)

// Files that others encrypted open with their password, and with no other.
func TestEncrypted(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/xuri/excelize/v2").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"encryptAES.xlsx", "encryptSHA1.xlsx", "encryptSHA512.xlsx"} {
		data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "test", name))
		if err != nil {
			t.Fatal(err)
		}
		in := media.Payload{Data: data, Name: name}
		res := must(t, in, "convert to=txt password=password")
		if !strings.Contains(string(res.Media.Data), "SECRET") {
			t.Errorf("%s: %q", name, res.Media.Data)
		}
		if _, err := run(t, in, "convert to=txt password=wrong"); err == nil || !strings.Contains(err.Error(), "the password does not open "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	data, err := excelize.Encrypt(sample(t, "contract.docx").Data, &excelize.Options{Password: "open sesame"})
	if err != nil {
		t.Fatal(err)
	}
	in := media.Payload{Data: data, Name: "contract.docx"}
	if got := string(must(t, in, `extract text password="open sesame"`).Read.Text); !strings.Contains(got, "starts on 2025-01-02.") {
		t.Errorf("%.200s", got)
	}
	res := must(t, in, redactAll+` password="open sesame"`)
	if res.Media.MIME != docxMIME || leaks(t, res.Media.Data) != nil || !strings.Contains(strings.Join(res.Warnings, "\n"), "The result is not encrypted.") {
		t.Errorf("%s %v", res.Media.MIME, res.Warnings)
	}
	m := must(t, in, `extract metadata password="open sesame"`).Read.Data.(map[string]any)
	if m["title"] != "Contract" || m["encrypted"] != true {
		t.Error(m)
	}
	for do, want := range map[string]string{
		"convert to=md": `contract.docx is encrypted. Give its password. Use: convert to=md password="secret"`,
		redactAll:       `is encrypted. Give its password. Use: redact … password="secret"`,
	} {
		if _, err := run(t, in, do); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", do, err)
		}
	}
	in.Data = append([]byte{}, data...)
	in.Data[len(in.Data)/2] ^= 1
	if _, err := run(t, in, `convert to=md password="open sesame"`); err == nil {
		t.Error("the damage was not seen")
	}
}
