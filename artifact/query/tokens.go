package query

import (
	"context"
	"errors"
	"io"
	"unicode/utf8"
)

// The weights of the estimate, in thousandths of a token. They were fitted to the o200k tokenizer on Go, JavaScript,
// Markdown, JSON, logs, listings, digests, base64 and messages in several languages: the estimate is within a fifth of
// the true number on each, where "bytes divided by four" is up to 64 % too low. The weight of Greek and Cyrillic is a
// rule of thumb.
const (
	perWord    = 940  // run of letters
	perExtra   = 100  // its letters past the sixth
	perHump    = 1430 // upper case behind lower case in it
	perAccent  = 1000 // Latin letter beyond ASCII in it
	perDigits  = 1220 // three digits
	perPunct   = 670  // run of punctuation
	perPunct2  = 50   // its characters past the second
	perNewline = 1420 // run of line ends
	perIndent  = 840  // run of two or more blanks
	perCJK     = 730  // character from U+2E80 on
	perGreek   = 300  // Greek or Cyrillic character
	perOther   = 1500 // any other character
)

// estimator counts tokens of text that comes in pieces. It works on bytes: where a piece ends in the middle of a
// character the rest counts as one more.
type estimator struct {
	milli int64
	class byte // of the run that goes on
	run   int64
	last  byte
}

func (e *estimator) add(b []byte) {
	class, run, last, milli := e.class, e.run, e.last, e.milli
	for i := 0; i < len(b); i++ {
		c := b[i]
		next := classes[c]
		if next == 0 { // not ASCII
			r, n := utf8.DecodeRune(b[i:])
			i += n - 1
			if r >= 0xc0 && r < 0x250 { // goes on with a word
				milli += perAccent
				if class != 'a' {
					class, run = 'a', 0
					milli += perWord
				}
				run++
			} else {
				milli += weigh(r)
				class, run = 0, 0
			}
			last = c
			continue
		}
		run++
		if next != class {
			class, run = next, 1
		}
		switch class {
		case 'a':
			switch {
			case run == 1:
				milli += perWord
			case run > 6:
				milli += perExtra
			}
			if run > 1 && c <= 'Z' && last >= 'a' {
				milli += perHump
			}
		case '0':
			if run%3 == 1 {
				milli += perDigits
			}
		case '.':
			switch {
			case run == 1:
				milli += perPunct
			case run > 2:
				milli += perPunct2
			}
		case '\n':
			if run == 1 {
				milli += perNewline
			}
		case ' ':
			if run == 2 {
				milli += perIndent
			}
		}
		last = c
	}
	e.class, e.run, e.last, e.milli = class, run, last, milli
}

// weigh returns the weight of a character that is not ASCII.
func weigh(r rune) int64 {
	switch {
	case r == utf8.RuneError, r < 0x370, r >= 0x530 && r < 0x2e80:
		return perOther
	case r < 0x530:
		return perGreek
	}
	return perCJK
}

// classes maps each ASCII byte to the kind of run that it belongs to, the others to 0.
var classes = func() (t [256]byte) {
	for c := range utf8.RuneSelf {
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			t[c] = 'a'
		case c >= '0' && c <= '9':
			t[c] = '0'
		case c == '\n' || c == '\r':
			t[c] = '\n'
		case c == ' ' || c == '\t':
			t[c] = ' '
		default:
			t[c] = '.'
		}
	}
	return t
}()

func (e *estimator) tokens() int64 { return (e.milli + 999) / 1000 }

// sampleOver is the size from which on an estimate looks at every so many blocks only, about this many bytes in all.
const sampleOver = 32 << 20

// estimate returns about how many tokens the document is to a current model.
func (d *document) estimate(ctx context.Context) (int64, error) {
	if d.Size > sampleOver {
		return d.sample(ctx)
	}
	var e estimator
	err := d.blocks(ctx, 0, func(_ int64, b []byte) bool {
		e.add(b)
		return false
	})
	return e.tokens(), err
}

func (d *document) sample(ctx context.Context) (int64, error) {
	var e estimator
	step := d.Size / (sampleOver / blockSize)
	buf := make([]byte, blockSize)
	var seen int64
	for off := int64(0); off < d.Size; off += step {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := d.ReadAt(buf[:min(blockSize, d.Size-off)], off)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		e.add(buf[:n])
		seen += int64(n)
	}
	return int64(float64(e.tokens()) / float64(max(seen, 1)) * float64(d.Size)), nil
}

// EstimateTokens returns about how many tokens a text is.
func EstimateTokens(text string) int64 {
	var e estimator
	e.add([]byte(text))
	return e.tokens()
}
