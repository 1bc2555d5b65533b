// Package setup writes the settings with which MCP clients start, or reach, a server of ours.
//
// Everything is a function of text: [Client.Edit] takes a settings file as it is and returns it with our entry, leaving
// every other byte alone (comments, order, indentation); [Client.Snippet] returns what a person would add by hand;
// [Client.Check] says for doctor what is wrong with a file. Reading and writing files is the caller's.
package setup
