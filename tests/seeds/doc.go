// Package seeds holds no code, only tests: every sentence of the documents that this project implements is a test, or it is
// said why it is none. docs/seeds/NNN.json is the table for one document; it names sentences by number and digest and says
// in our own words what each demands.
package seeds
