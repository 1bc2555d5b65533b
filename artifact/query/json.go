package query

import (
	"context"
	"fmt"
	"strings"

	"github.com/theory/jsonpath/spec"
)

func get(ctx context.Context, d *document, q Query) (Answer, error) {
	sel, err := compile(q.Path)
	if err != nil {
		return Answer{}, err
	}
	c := &collector{q: q, whole: d.format != JSONLines}
	var sample any
	st, err := d.records(ctx, q, func(line int64, v any) (bool, error) {
		if sample == nil {
			sample = v
		}
		for _, n := range sel.nodes(v) {
			path := n.path
			if sel.single {
				path = ""
			}
			if !c.add(line, path, n.v) {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		return Answer{}, err
	}
	return c.finish(q, st, d.format != JSONLines, func() error { return sel.missing(sample) })
}

// finish makes the answer, or the error of one without values.
func (c *collector) finish(q Query, st lineStats, counted bool, none func() error) (Answer, error) {
	if c.seen == 0 {
		return Answer{}, none()
	}
	if len(c.out.Values) == 0 {
		return Answer{}, invalid("offset", fmt.Sprintf("use an offset below %d", c.seen), "offset %d is behind the last value; there are %d", q.Offset, c.seen)
	}
	a := c.answer(counted)
	a.Text += st.note()
	return a, nil
}

func slice(ctx context.Context, d *document, q Query) (Answer, error) {
	if d.format == JSONLines {
		return sliceLines(ctx, d, q)
	}
	list, err := d.array(q, "slice")
	if err != nil {
		return Answer{}, err
	}
	from, to := bounds(q, len(list))
	c := &collector{q: q, whole: true}
	for _, v := range list[from:to] {
		c.add(0, "", v)
	}
	return c.finish(q, lineStats{}, true, func() error { return emptySlice(q, len(list), "element") })
}

func emptySlice(q Query, n int, what string) error {
	end := "the end"
	if q.End != nil {
		end = fmt.Sprint(*q.End)
	}
	return invalid("start", fmt.Sprintf("there are %d %ss, numbered from 0", n, what), "no %ss stand from %d up to %s", what, q.Start, end)
}

// bounds returns the part of n elements that a slice names.
func bounds(q Query, n int) (from, to int) {
	at := func(i int) int {
		if i < 0 {
			i += n
		}
		return min(max(i, 0), n)
	}
	from, to = at(q.Start), n
	if q.End != nil {
		to = at(*q.End)
	}
	return from, max(from, to)
}

// sliceLines counts records. Only a slice from the end needs to know how many there are.
func sliceLines(ctx context.Context, d *document, q Query) (Answer, error) {
	from, to := q.Start, 1<<62
	if q.End != nil {
		to = *q.End
	}
	n := -1
	if from < 0 || to < 0 {
		st, err := d.records(ctx, q, func(int64, any) (bool, error) { return false, nil })
		if err != nil {
			return Answer{}, err
		}
		n = int(st.records)
		from, to = bounds(q, n)
	}
	c := &collector{q: q}
	i := 0
	st, err := d.records(ctx, q, func(line int64, v any) (bool, error) {
		if i++; i <= from {
			return false, nil
		}
		return i > to || !c.add(line, "", v), nil
	})
	if err != nil {
		return Answer{}, err
	}
	return c.finish(q, st, false, func() error { return emptySlice(q, max(n, int(st.records)), "record") })
}

// array returns the array at the path of the query.
func (d *document) array(q Query, op string) ([]any, error) {
	sel, err := compile(q.Path)
	if err != nil {
		return nil, err
	}
	v, err := d.decode(q)
	if err != nil {
		return nil, err
	}
	nodes := sel.nodes(v)
	if len(nodes) == 0 {
		return nil, sel.missing(v)
	}
	list, ok := nodes[0].v.([]any)
	if len(nodes) > 1 || !ok {
		e := invalid("path", "give the path of one array", "%s needs an array, but %s is %s", op, sel.text, describeValue(nodes[0].v))
		if len(nodes) > 1 {
			e.Message = fmt.Sprintf("%s needs one array, but %s selects %d values", op, sel.text, len(nodes))
		}
		e.Exists = arraysIn(v)
		return nil, e
	}
	return list, nil
}

// arraysIn lists the paths of arrays near the root.
func arraysIn(v any) (paths []string) {
	m, _ := v.(map[string]any)
	for _, k := range sortedKeys(m) {
		if list, ok := m[k].([]any); ok {
			paths = append(paths, fmt.Sprintf("%s (%s)", shortPath(spec.Normalized(spec.Name(k))), plural(len(list), "element")))
		}
	}
	return paths
}

// describeValue says what a value is: "an array of 3 elements", "a number".
func describeValue(v any) string {
	n, what := lengthOf(v)
	switch v.(type) {
	case nil:
		return "null"
	case []any:
		return "an array of " + plural(n, what)
	case map[string]any:
		return "an object with " + plural(n, what)
	case string:
		return "a string of " + plural(n, what)
	}
	return "a " + typeName(v)
}

func pluck(ctx context.Context, d *document, q Query) (Answer, error) {
	if len(q.Fields) == 0 {
		return Answer{}, invalid("fields", `for example fields=["id","name"]`, "pluck needs fields")
	}
	sel, err := compile(q.Path)
	if err != nil {
		return Answer{}, err
	}
	c := &collector{q: q, whole: d.format != JSONLines}
	known := map[string]any{}
	found, objects, wrong := false, 0, any(nil)
	st, err := d.records(ctx, q, func(line int64, v any) (bool, error) {
		for _, obj := range elements(sel.nodes(v)) {
			m, ok := obj.(map[string]any)
			if !ok {
				wrong = obj
				continue
			}
			objects++
			if len(known) < 200 {
				for k := range m {
					known[k] = true
				}
			}
			picked := pick(m, q.Fields)
			found = found || len(picked) > 0
			if !c.add(line, "", picked) {
				return true, nil
			}
		}
		return false, nil
	})
	switch {
	case err != nil:
		return Answer{}, err
	case objects == 0 && wrong != nil:
		return Answer{}, invalid("path", "give the path of an object or of an array of objects", "pluck needs objects, but at %s there is %s", sel.text, describeValue(wrong))
	case objects > 0 && !found:
		return Answer{}, &Error{Code: CodeNotFound, Field: "fields", Message: fmt.Sprintf("no object at %s has %s", sel.text, quote(strings.Join(q.Fields, ", "))), Exists: sortedKeys(known)}
	}
	return c.finish(q, st, d.format != JSONLines, func() error {
		return &Error{Code: CodeNotFound, Field: "path", Message: "no objects are at " + sel.text}
	})
}

// elements returns the nodes, each array replaced by its elements.
func elements(nodes []node) (out []any) {
	for _, n := range nodes {
		if list, ok := n.v.([]any); ok {
			out = append(out, list...)
		} else {
			out = append(out, n.v)
		}
	}
	return out
}

// pick returns an object with only some fields of another. A field with dots that is no key reaches into objects.
func pick(m map[string]any, fields []string) map[string]any {
	out := map[string]any{}
	for _, f := range fields {
		v, ok := m[f]
		if !ok {
			v, ok = reach(m, strings.Split(f, "."))
		}
		if ok {
			out[f] = v
		}
	}
	return out
}

func reach(v any, steps []string) (any, bool) {
	for _, s := range steps {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = m[s]; !ok {
			return nil, false
		}
	}
	return v, true
}
