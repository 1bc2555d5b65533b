//go:build !unix

package scratch

// alive cannot be told here; folders are swept by their age.
func alive(int) bool { return true }
