package charset

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/text/encoding/charmap"
)

var (
	//go:embed standard.txt
	standardTable string
	//go:embed symbol.txt
	symbolTable string
	//go:embed dingbats.txt
	dingbatsTable string
)

// Encoding says what each code means; "" where it means nothing.
type Encoding [256]string

// Metrics are the widths of a font in thousandths of its size.
type Metrics struct {
	// Char are the widths of characters, for fonts that can be encoded otherwise.
	Char map[string]float64
	// Code are the widths of codes, for fonts with characters of their own.
	Code map[int]float64
	// Own is the encoding of a font with characters of its own; nil for others.
	Own *Encoding
}

// tables are what the files say.
type tables struct {
	standard Encoding
	fonts    [7]Metrics // in the order of the columns, and Courier
	symbol   Metrics
	dingbats Metrics
}

var load = sync.OnceValue(func() *tables {
	t := &tables{}
	for i := range t.fonts {
		t.fonts[i].Char = make(map[string]float64, 320)
	}
	rows(standardTable, func(row string) {
		f := strings.Fields(row)
		code, _ := strconv.Atoi(f[0]) // a table of this package, which a test reads
		text, ok := Text(f[1])
		if !ok {
			return
		}
		if code >= 0 {
			t.standard[code] = text
		}
		for i := range 6 {
			t.fonts[i].Char[text], _ = strconv.ParseFloat(f[2+i], 64)
		}
		t.fonts[6].Char[text] = 600
	})
	own := func(table string) Metrics {
		m := Metrics{Code: map[int]float64{}, Own: &Encoding{}}
		rows(table, func(row string) {
			f := strings.Fields(row)
			code, _ := strconv.Atoi(f[0])
			m.Own[code] = char(f[1])
			m.Code[code], _ = strconv.ParseFloat(f[2], 64)
		})
		return m
	}
	t.symbol, t.dingbats = own(symbolTable), own(dingbatsTable)
	return t
})

func fromCharmap(m *charmap.Charmap) *Encoding {
	var e Encoding
	for c := 32; c < 256; c++ {
		if r := m.DecodeByte(byte(c)); r >= 32 && r != 127 && r != '\ufffd' {
			e[c] = string(r)
		}
	}
	return &e
}

var winAnsi = sync.OnceValue(func() *Encoding {
	e := fromCharmap(charmap.Windows1252)
	for c := 0x7f; c < 0xa0; c++ { // codes without a meaning are bullets
		if e[c] == "" || []rune(e[c])[0] < 0xa0 {
			e[c] = "•"
		}
	}
	e[0xad] = "-"
	return e
})

var macRoman = sync.OnceValue(func() *Encoding {
	e := fromCharmap(charmap.Macintosh)
	e[0xca] = " "
	return e
})

// Named returns an encoding that files name: StandardEncoding, WinAnsiEncoding or MacRomanEncoding; nil for others.
func Named(name string) *Encoding {
	switch name {
	case "StandardEncoding":
		return &load().standard
	case "WinAnsiEncoding":
		return winAnsi()
	case "MacRomanEncoding":
		return macRoman()
	}
	return nil
}

// Standard returns the metrics of one of the 14 standard fonts, also under the names that programs use for fonts of the
// same widths; nil for others.
func Standard(name string) *Metrics {
	if len(name) > 7 && name[6] == '+' {
		name = name[7:]
	}
	plain := strings.ToLower(strings.NewReplacer(" ", "", "-", "", ",", "", "PSMT", "", "MT", "", "PS", "").Replace(name))
	bold := strings.Contains(plain, "bold")
	slanted := strings.Contains(plain, "italic") || strings.Contains(plain, "oblique")
	family := strings.NewReplacer("bold", "", "italic", "", "oblique", "", "regular", "", "roman", "").Replace(plain)
	t := load()
	switch family {
	case "helvetica", "arial":
		if bold {
			return &t.fonts[1]
		}
		return &t.fonts[0]
	case "times", "timesnew":
		switch {
		case bold && slanted:
			return &t.fonts[5]
		case slanted:
			return &t.fonts[4]
		case bold:
			return &t.fonts[3]
		}
		return &t.fonts[2]
	case "courier", "couriernew":
		return &t.fonts[6]
	case "symbol":
		return &t.symbol
	case "zapfdingbats":
		return &t.dingbats
	}
	return nil
}
