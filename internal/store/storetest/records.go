package storetest

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/internal/store"
)

func rec(space, key, owner, body string) store.Record {
	return store.Record{Space: space, Key: key, Owner: owner, Body: json.RawMessage(body)}
}

var recordTests = []test{
	{"set, get, replace, unset", func(t *testing.T, st store.Store, clock *clock) {
		ctx := t.Context()
		_, err := st.Get(ctx, "a", "k")
		wantKind(t, err, store.ErrNotFound)
		if err := st.Set(ctx, rec("a", "k", "me", `{"v":1}`), rec("b", "k", "", `2`)); err != nil {
			t.Fatal(err)
		}
		at := clock.at.UTC().Truncate(time.Microsecond)
		got, err := st.Get(ctx, "a", "k")
		want := rec("a", "k", "me", `{"v":1}`)
		want.At = at
		same(t, "record", want, got)
		if err != nil {
			t.Fatal(err)
		}
		clock.forward(time.Minute)
		if err := st.Set(ctx, rec("a", "k", "you", `3`)); err != nil {
			t.Fatal(err)
		}
		want = rec("a", "k", "you", `3`)
		want.At = at.Add(time.Minute)
		got, _ = st.Get(ctx, "a", "k")
		same(t, "replaced", want, got)
		if err := st.Unset(ctx, "a", "k", "never"); err != nil {
			t.Fatal(err)
		}
		_, err = st.Get(ctx, "a", "k")
		wantKind(t, err, store.ErrNotFound)
		if got, err := st.Get(ctx, "b", "k"); err != nil || string(got.Body) != "2" {
			t.Errorf("another space lost its record: %v, %v", got, err)
		}
	}},
	{"list by owner and prefix", func(t *testing.T, st store.Store, _ *clock) {
		if err := st.Set(t.Context(), rec("a", "x/2", "o1", `1`), rec("a", "x/1", "o2", `1`), rec("a", "y", "o1", `1`), rec("b", "x", "o1", `1`), rec("a", "x", "", `1`)); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			q    store.RecordQuery
			want []string
		}{
			{store.RecordQuery{}, []string{"x", "x/1", "x/2", "y"}},
			{store.RecordQuery{Owner: "o1"}, []string{"x/2", "y"}},
			{store.RecordQuery{Prefix: "x/"}, []string{"x/1", "x/2"}},
			{store.RecordQuery{Owner: "o1", Prefix: "x"}, []string{"x/2"}},
			{store.RecordQuery{Owner: "nobody"}, nil},
		} {
			got, err := st.List(t.Context(), "a", c.q)
			if err != nil {
				t.Fatal(err)
			}
			var keys []string
			for _, r := range got {
				keys = append(keys, r.Key)
				if r.Space != "a" || string(r.Body) != "1" {
					t.Errorf("record %+v", r)
				}
			}
			same(t, "keys", c.want, keys)
		}
	}},
	{"what is not valid is refused whole", func(t *testing.T, st store.Store, _ *clock) {
		for _, bad := range []store.Record{rec("", "k", "", `1`), rec("a", "", "", `1`), rec("a", "k", "", `{`), rec("a", "k\x00", "", `1`)} {
			if err := st.Set(t.Context(), rec("a", "good", "", `1`), bad); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("%+v: error %v, want ErrInvalid", bad, err)
			}
		}
		if got, err := st.List(t.Context(), "a", store.RecordQuery{}); len(got) != 0 || err != nil {
			t.Errorf("stored in spite of the error: %v, %v", got, err)
		}
	}},
}
