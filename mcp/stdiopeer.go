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
	speaker
}

// introduced fills in what the handshake of the older era said. It returns false before the handshake.
func (p *stdioPeer) introduced() bool {
	init := p.conn.session.InitializeParams()
	if init == nil {
		return false
	}
	p.speaker = legacySpeaker(init)
	return true
}

func (p *stdioPeer) origin() Origin        { return Origin{Client: p.who} }
func (p *stdioPeer) life() context.Context { return p.conn.base }

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
