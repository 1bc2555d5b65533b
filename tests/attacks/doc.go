// Package attacks holds no code, only tests: the attacks on policy, people and shells, tried on the whole. policy.json says
// for every attack of its groups which tests it is, or why it is none yet; a check misses what is gone. shell.json holds the
// lines of the attacks through a shell, and lines.txt everyday commands beside traps.
package attacks
