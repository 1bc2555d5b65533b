//go:build race

package legacy

// most is how many MB a file made to grow may take: the race detector moves what is otherwise converted in place.
const most = 4000
