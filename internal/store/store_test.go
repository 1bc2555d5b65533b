package store_test

import (
	"testing"
	"time"

	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/internal/store/storetest"
)

func TestLocal(t *testing.T) {
	storetest.Run(t, func(t *testing.T, now func() time.Time) store.Store {
		return store.Open(t.TempDir(), store.Options{Now: now})
	})
}

func TestMemory(t *testing.T) {
	storetest.Run(t, func(t *testing.T, now func() time.Time) store.Store {
		return &store.Memory{Now: now}
	})
}
