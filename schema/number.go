package schema

import (
	"bytes"
	"strconv"
	"strings"
)

// maxDigits bounds the integers that are written out from a fraction or an exponent, so that 1e999999 stays a problem
// and does not become a megabyte.
const maxDigits = 40

// isNumber reports whether b is exactly one JSON number.
func isNumber(b []byte) bool {
	n, _, ok := numberLen(b)
	return ok && n == len(b) && n > 0
}

// integral writes a JSON number that has a whole value without fraction and exponent: 5.0 and 50e-1 become 5. Go reads
// only that form into integers. It reports false for other values and for integers of more than maxDigits digits.
func integral(b []byte) (string, bool) {
	_, plain, _ := numberLen(b)
	if plain {
		return string(b), true
	}
	mantissa, sign := string(b), ""
	if mantissa[0] == '-' {
		mantissa, sign = mantissa[1:], "-"
	}
	exp := 0
	if i := strings.IndexAny(mantissa, "eE"); i >= 0 {
		e, err := strconv.Atoi(mantissa[i+1:])
		if err != nil {
			e = maxDigits * 1000 // a mantissa of zeros is still zero
		}
		exp, mantissa = e, mantissa[:i]
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+frac, "0")
	exp -= len(frac)
	if digits == "" {
		return "0", true
	}
	trimmed := strings.TrimRight(digits, "0")
	exp += len(digits) - len(trimmed)
	if exp < 0 || len(trimmed)+exp > maxDigits {
		return "", false
	}
	return sign + trimmed + strings.Repeat("0", exp), true
}

// float returns the value of a JSON number, false where it is outside the range of float64.
func float(b []byte) (float64, bool) {
	if len(b) <= 15 && !bytes.ContainsAny(b, ".eE") {
		n, neg := int64(0), false
		for i, c := range b {
			if i == 0 && c == '-' {
				neg = true
				continue
			}
			n = n*10 + int64(c-'0')
		}
		if neg {
			n = -n
		}
		return float64(n), true
	}
	f, err := strconv.ParseFloat(string(b), 64)
	return f, err == nil
}

// formatFloat writes a bound of a schema the way a person would.
func formatFloat(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
