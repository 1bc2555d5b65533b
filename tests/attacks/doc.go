// Package attacks holds no code, only tests: the attacks on policy, people, files and shells, tried on the whole.
// policy.json, files.json and resource.json say for every attack of their groups which tests it is, or why it is none yet; a check misses
// what is gone. shell.json holds the lines of the attacks through a shell, and lines.txt everyday commands beside traps.
package attacks
