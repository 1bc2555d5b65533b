// Package media holds no code, only tests of documents as a whole: files with numbers planted in every place that a format
// has for words are redacted, and readers and scans that share nothing with the engines look for the numbers; and one text
// that Debian gives in four formats reads alike.
package media
