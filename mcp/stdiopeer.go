package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tackle-dev/tackle/mcp/internal/wire"
)

// stdioPeer is the client of one call over stdio.
type stdioPeer struct {
	conn  *stdio
	token []byte // raw progress token
	who   Client
	forms bool // it can show a form
	newer bool
}

// introduced fills in what the handshake of the older era said. It returns false before the handshake.
func (p *stdioPeer) introduced() bool {
	init := p.conn.session.InitializeParams()
	if init == nil {
		return false
	}
	p.who, p.forms = legacyClient(init), canElicit(init.Capabilities)
	return true
}

func legacyClient(init *sdk.InitializeParams) Client {
	c := Client{Protocol: min(init.ProtocolVersion, legacyVersion)}
	if init.ClientInfo != nil {
		c.Name, c.Version = init.ClientInfo.Name, init.ClientInfo.Version
	}
	return c
}

func (p *stdioPeer) client() Client        { return p.who }
func (p *stdioPeer) origin() Origin        { return Origin{Client: p.who} }
func (p *stdioPeer) life() context.Context { return p.conn.base }
func (p *stdioPeer) modern() bool          { return p.newer }
func (p *stdioPeer) elicits() bool         { return p.forms }

func (p *stdioPeer) elicit(ctx context.Context, params *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	return p.conn.session.Elicit(ctx, params)
}

func (p *stdioPeer) progress() func(progress, total float64, message string) {
	if p.token == nil {
		return nil
	}
	return func(progress, total float64, message string) {
		params := appendProgress(nil, p.token, progress, total, message)
		p.conn.out.frame(p.conn.base, wire.AppendNotification(nil, "notifications/progress", params))
	}
}
