// Package attacks holds no code, only tests: the attacks on policy and people, tried on the whole. policy.json says for
// every attack of these groups which tests it is, or why it is none yet; a check misses what is gone.
package attacks
