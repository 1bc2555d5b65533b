//go:build !race

package legacy

// most is how many MB a file made to grow may take.
const most = 400
