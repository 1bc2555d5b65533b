package query

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Shape is the Data of type and length: the values at a path, counted by type.
type Shape struct {
	Records int64          `json:"records,omitempty"` // of JSON lines
	Types   map[string]int `json:"types"`             // how many values of each type
	Length  int            `json:"length"`            // of the only value, or the number of records; -1 where it has none
}

// Key is one key of an object, or of many objects. Data of keys is a list of them.
type Key struct {
	Name   string         `json:"name"`
	Types  map[string]int `json:"types"`            // of its values
	Count  int            `json:"count"`            // objects that have it
	Length int            `json:"length,omitempty"` // of the value of the only object
}

// survey visits every value at the path of the query.
func (d *document) survey(ctx context.Context, q Query, fn func(v any)) (*selector, lineStats, error) {
	sel, err := compile(q.Path)
	if err != nil {
		return nil, lineStats{}, err
	}
	n := 0
	var sample any
	st, err := d.records(ctx, q, func(_ int64, v any) (bool, error) {
		if sample == nil {
			sample = v
		}
		for _, node := range sel.nodes(v) {
			n++
			fn(node.v)
		}
		return false, nil
	})
	if err == nil && n == 0 && (st.records > 0) {
		err = sel.missing(sample)
	}
	return sel, st, err
}

func typeOf(ctx context.Context, d *document, q Query) (Answer, error) {
	sh, text, st, err := d.shape(ctx, q)
	return Answer{Text: text + st.note(), Data: sh}, err
}

// shape counts the types at a path and says them in words.
func (d *document) shape(ctx context.Context, q Query) (Shape, string, lineStats, error) {
	sh := Shape{Types: map[string]int{}, Length: -1}
	var only any
	n := 0
	sel, st, err := d.survey(ctx, q, func(v any) {
		sh.Types[typeName(v)]++
		only = v
		n++
	})
	if err != nil {
		return sh, "", st, err
	}
	if d.format == JSONLines {
		sh.Records = st.records
		sh.Length = int(st.records)
		text := plural(st.records, "record")
		switch {
		case n > 0 && sel.root():
			text += ": " + countTypes(sh.Types)
		case n > 0:
			text += fmt.Sprintf("; at %s: %s", sel.text, countTypes(sh.Types))
		}
		return sh, text, st, nil
	}
	if n == 1 {
		sh.Length, _ = lengthOf(only)
		return sh, describeValue(only), st, nil
	}
	return sh, fmt.Sprintf("%s at %s: %s", plural(n, "value"), sel.text, countTypes(sh.Types)), st, nil
}

func countTypes(types map[string]int) string {
	keys := slices.SortedFunc(maps.Keys(types), func(a, b string) int {
		return cmp.Or(cmp.Compare(types[b], types[a]), cmp.Compare(a, b))
	})
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = fmt.Sprintf("%d %s", types[k], k)
	}
	return strings.Join(parts, ", ")
}

func length(ctx context.Context, d *document, q Query) (Answer, error) {
	if d.format == JSONLines && (q.Path == "" || q.Path == "$") {
		sh, text, st, err := d.shape(ctx, q)
		return Answer{Text: text + st.note(), Data: sh}, err
	}
	sel, err := compile(q.Path)
	if err != nil {
		return Answer{}, err
	}
	c := &collector{q: q, whole: d.format != JSONLines}
	var sample any
	var word string
	st, err := d.records(ctx, q, func(line int64, v any) (bool, error) {
		if sample == nil {
			sample = v
		}
		for _, n := range sel.nodes(v) {
			size, what := lengthOf(n.v)
			if size < 0 {
				return false, invalid("path", "ask for the length of an array, object or string", "%s is %s and has no length", n.path, describeValue(n.v))
			}
			word = what
			if !c.add(line, n.path, size) {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		return Answer{}, err
	}
	a, err := c.finish(q, st, d.format != JSONLines, func() error { return sel.missing(sample) })
	if err == nil && d.format != JSONLines && c.seen == 1 {
		if a.Text == "1" {
			return Answer{Text: "1 " + word, Data: a.Data}, nil
		}
		a.Text += " " + word + "s"
	}
	return a, err
}

func keys(ctx context.Context, d *document, q Query) (Answer, error) {
	seen := map[string]*Key{}
	objects := 0
	var lastLengths map[string]any
	other := any(nil)
	look := func(v any) {
		m, ok := v.(map[string]any)
		if !ok {
			other = v
			return
		}
		objects++
		lastLengths = m
		for k, v := range m {
			key := seen[k]
			if key == nil {
				key = &Key{Name: k, Types: map[string]int{}}
				seen[k] = key
			}
			key.Count++
			key.Types[typeName(v)]++
		}
	}
	sel, st, err := d.survey(ctx, q, func(v any) {
		if list, ok := v.([]any); ok {
			for _, e := range list {
				look(e)
			}
			return
		}
		look(v)
	})
	if err != nil {
		return Answer{}, err
	}
	if objects == 0 {
		return Answer{}, invalid("path", "ask for the keys of an object or of an array of objects", "at %s there is %s and nothing with keys", sel.text, describeValue(other))
	}
	list := slices.SortedFunc(maps.Values(seen), func(a, b *Key) int { return cmp.Compare(a.Name, b.Name) })
	if objects == 1 {
		for _, k := range list {
			k.Length, _ = lengthOf(lastLengths[k.Name])
			k.Length = max(k.Length, 0)
		}
	}
	return keyAnswer(q, list, objects, st), nil
}

func keyAnswer(q Query, list []*Key, objects int, st lineStats) Answer {
	var b strings.Builder
	if objects > 1 {
		fmt.Fprintf(&b, "%d objects with %s:\n", objects, plural(len(list), "different key"))
	}
	shown := 0
	for _, k := range list {
		line := k.Name + ": "
		if objects == 1 {
			line += typeOne(k)
		} else {
			if len(k.Types) == 1 {
				line += typeOne(k)
			} else {
				line += countTypes(k.Types)
			}
			if k.Count < objects {
				line += fmt.Sprintf(" (in %d)", k.Count)
			}
		}
		if shown >= q.Limit || (shown > 0 && !fits(q.Limits, shown, b.Len(), len(line)+1)) {
			break
		}
		b.WriteString(line + "\n")
		shown++
	}
	a := Answer{Data: list[:shown], Text: strings.TrimSuffix(b.String(), "\n")}
	if len(list) == 0 {
		a.Text = "an object without keys"
	}
	if shown < len(list) {
		a.Truncated = true
		a.Text += fmt.Sprintf("\n[%d of %d keys; raise limit for more.]", shown, len(list))
	}
	a.Text += st.note()
	return a
}

func typeOne(k *Key) string {
	for t := range k.Types {
		if k.Count == 1 && (k.Length > 0 || t == "array" || t == "object") {
			return fmt.Sprintf("%s (%d)", t, k.Length)
		}
		return t
	}
	return ""
}
