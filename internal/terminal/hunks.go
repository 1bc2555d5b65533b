package terminal

import (
	"fmt"
	"io"
	"slices"

	"github.com/tackle-dev/tackle/permission/ask"
)

// hunks asks about each piece of the call. done is false where the person went back to the whole.
func (d *dialog) hunks() (c choice, done bool, err error) {
	pieces := d.req.View.Hunks
	said := make([]bool, d.req.Hunks)
	words := map[int]string{}
	for i := 0; i < len(said); {
		piece := ask.Hunk{Number: i + 1}
		if i < len(pieces) {
			piece = pieces[i]
		}
		columns, lines := d.p.Device.Size()
		if lines < 10 {
			lines = 24
		}
		io.WriteString(d.out, d.style.hunk(piece, len(said), columns, lines))
		k, err := d.key()
		if err != nil {
			return c, false, err
		}
		switch k {
		case 'y':
			said[i] = true
			delete(words, i+1)
			i++
		case 'n':
			said[i] = false
			i++
		case 'w':
			text, ok, err := d.line(fmt.Sprintf("not %d, because: ", i+1))
			if err != nil {
				return c, false, err
			}
			if ok {
				said[i], words[i+1] = false, text
				i++
			}
		case 'a', 'd':
			for ; i < len(said); i++ {
				said[i] = k == 'a'
			}
		case 'b':
			i = max(i-1, 0)
		case 'v':
			if err := d.page(d.style.hunk(piece, len(said), columns, 0)); err != nil {
				return c, false, err
			}
		case keyEscape:
			return c, false, nil
		case keyCtrlC, keyCtrlD:
			return c, false, errGone
		}
	}
	return d.chosen(said, words), true, nil
}

// chosen makes the answer: all is a plain yes, none a no.
func (d *dialog) chosen(said []bool, words map[int]string) choice {
	var c choice
	for i, yes := range said {
		if yes {
			c.Hunks = append(c.Hunks, i+1)
		}
	}
	switch len(c.Hunks) {
	case len(said):
		c.Hunks = nil
	case 0:
		var keys []int
		for n := range words {
			keys = append(keys, n)
		}
		slices.Sort(keys)
		for _, n := range keys {
			if c.Words != "" {
				c.Words += "; "
			}
			c.Words += fmt.Sprintf("#%d: %s", n, words[n])
		}
		return c
	default:
		c.Denied = words
	}
	c.Allow = true
	return c
}
