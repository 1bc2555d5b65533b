package charset

import "testing"

func TestText(t *testing.T) {
	for name, want := range map[string]string{"A": "A", "Euro": "€", "f_f_i": "ffi", "uni00E9": "é", "uni00410042": "AB", "u1F600": "😀", "a.sc": "a",
		"ffi": "ffi", "hyphen": "-", "g12": "", "cid_7": "", ".notdef": "", "uniD800": "", "": ""} {
		if got, ok := Text(name); got != want || ok != (want != "") {
			t.Errorf("%q: %q %v, want %q", name, got, ok, want)
		}
	}
}

func TestStandardFonts(t *testing.T) {
	for name, want := range map[string]float64{"Helvetica": 667, "Arial,Bold": 722, "ABCDEF+TimesNewRomanPSMT": 722, "Times-BoldItalic": 667, "CourierNew": 600,
		"Times-Roman": 722, "Arial-BoldItalicMT": 722} {
		m := Standard(name)
		if m == nil || m.Char["A"] != want || m.Own != nil {
			t.Errorf("%s: %v", name, m)
		}
	}
	if m := Standard("Symbol"); m.Own[0x61] != "α" || m.Code[0x61] != 631 {
		t.Error("Symbol lacks its alpha")
	}
	if m := Standard("ZapfDingbats"); m.Own[0x34] != "✔" || m.Code[0x34] != 846 {
		t.Error("ZapfDingbats lacks its mark", m.Own[0x34], m.Code[0x34])
	}
	if Standard("Futura") != nil {
		t.Error("Futura is no standard font")
	}
}

func TestEncodings(t *testing.T) {
	for name, want := range map[string]string{"StandardEncoding": "’", "WinAnsiEncoding": "'", "MacRomanEncoding": "'"} {
		e := Named(name)
		if e['\''] != want || e['A'] != "A" || e[10] != "" {
			t.Errorf("%s: %q", name, e['\''])
		}
	}
	if Named("WinAnsiEncoding")[0x80] != "€" || Named("MacRomanEncoding")[0x80] != "Ä" || Named("StandardEncoding")[0xae] != "fi" || Named("x") != nil {
		t.Error("codes above ASCII")
	}
}
