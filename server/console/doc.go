// Package console is the pages of the server: what an agent does, live, and the answers of people to what it asks.
//
// The one idea: a page is a struct of server/internal/core drawn by a template, and nothing else. The pages have no power and
// no knowledge of their own: who looks comes from the door in front of them (server/internal/access), what is shown and done
// comes from core, and a page that was reloaded shows the same as one that stayed open.
//
//	pages, err := console.New(console.Config{Core: core})
//	if err != nil { … }
//	defer pages.Close()
//	mux.Handle("/", door.Wrap(pages))
//
// # What is shown is harmless
//
// Whatever a model, a file, another server or a person wrote may be hostile. Every text goes through internal/show, as at
// the terminal, and then through html/template; a test reads the templates and refuses one that prints anything in another
// way. Pages run no script and no style but those of this package (Content-Security-Policy), load nothing from elsewhere, and
// cannot be framed.
//
// # Without a mouse, without JavaScript
//
// Pages are plain documents with forms, so that everything works without a script but the live parts and single keys. A
// script (assets/app.js) follows the stream of events and has htmx fetch the page again where it is marked live; what a person
// has opened or typed stays. A key counts only when it was pressed after the question stood there for a moment.
//
// This package is not for pages of other programs, and holds no login: see the package server.
package console
