// Package processes tries what only several processes show: four of them editing one file, and a new one going on where
// an old one stopped.
package processes
