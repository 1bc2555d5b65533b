// Package core is what stands between a box and the pages and routes of the server: typed questions with typed answers. It
// knows no HTTP.
//
// The one idea: whatever a page shows and whatever a route returns is one of the structs of this package, made by one of the
// methods of [Core]. So the page and the API can never disagree, and the description of the API is made from the same types.
//
//	c := core.New(box, core.Options{})
//	list, err := c.Sessions(ctx, core.SessionQuery{Limit: 20})
//	call, err := c.CallByID(ctx, session, id)                // one call whole
//	asks, err := c.Asks(ctx)                                 // what waits for a person, and tickets
//	done, err := c.Answer(ctx, who, ask, core.Answer{…})     // who is an access.Identity
//	res, err := c.Try(ctx, who, core.CallInput{…})           // a call takes the road like any other
//	sub, err := c.Subscribe(ctx, core.Subscription{After: lastID})
//	for batch := range sub.Batches() { … }; sub.Err()
//
// What is read comes from the store, never from memory alone: a page that is opened after a restart shows the same. Live
// events are read from the store too, after they were stored (persist before publish), with the number of the feed as their
// id, so a client that comes back with the last id it saw loses nothing.
//
// Texts are as they were recorded (secrets masked) and may hold anything: who shows them escapes them, with html/template
// and, where a person decides by them, with internal/show. Only [Ask.View] is escaped for showing already.
//
// Errors are *[Error] with a [Kind] that says whose mistake it is; anything else is a fault of this machine.
package core
