// Package repository holds no code, only tests: an agent with a scripted model works on a repository that others wrote, a module out
// of the module cache. Everything but the words of the model is real.
package repository
