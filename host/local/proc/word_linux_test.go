package proc

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/host"
)

// H2: a keeper that another server tells to end its command says how it ended before it goes. Its owner does not take the
// command for lost, and does not write so over the record.
func TestH2_LastWordOfAKeeper(t *testing.T) {
	r := open(t, TreeDefault)
	for range 10 {
		record := filepath.Join(t.TempDir(), "record")
		p, err := r.Start(t.Context(), host.Command{Script: "sleep 300", Record: record})
		if err != nil {
			t.Fatal(err)
		}
		k := p.Handle().Keeper
		if k == nil {
			t.Skip("commands have no keepers here")
		}
		if err := unix.Kill(k.PID, unix.SIGTERM); err != nil {
			t.Fatal(err)
		}
		e, err := p.Wait(t.Context())
		if err != nil || e.End != host.EndStopped {
			t.Fatalf("it %s, %v", e, err)
		}
		<-p.Gone()
		if e, err := readRecord(record); err != nil || e.End != host.EndStopped || !e.Gone {
			t.Fatalf("on record it %s, %v", e, err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// H2: what a keeper wrote down counts when it died before it could tell.
func TestH2_RecordOfADeadKeeper(t *testing.T) {
	record := filepath.Join(t.TempDir(), "record")
	want := host.Exit{End: host.EndExited, Code: 3, Gone: true}
	if err := writeRecord(record, want); err != nil {
		t.Fatal(err)
	}
	dead := &run{spec: &spec{Run: newRun(), Record: raw(record)}, leader: deadProcess(t), reportedCh: make(chan struct{}), goneCh: make(chan struct{})}
	dead.orphaned()
	if e := dead.exit(); e.End != want.End || e.Code != want.Code || !closed(dead.goneCh) {
		t.Errorf("it %s", e)
	}
	if e, err := readRecord(record); err != nil || e.End != want.End || e.Code != want.Code {
		t.Errorf("on record it %s, %v", e, err)
	}
}
