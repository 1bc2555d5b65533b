package mcp

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tackle-dev/tackle/mcp/internal/wire"
)

// The revisions of the protocol that matter here.
const (
	modernVersion = "2026-07-28" // the first without sessions
	legacyVersion = "2025-11-25" // the last with them
)

// Codes of JSON-RPC and MCP errors.
const (
	codeParse         = -32700
	codeInvalid       = -32600
	codeInvalidParams = -32602
)

// callParams are the params of a tools/call, split.
type callParams struct {
	name      string
	args      []byte // raw; nil where absent
	token     []byte // raw progress token; nil where absent
	version   string // of the newer era; "" in the older one
	info      []byte // raw clientInfo of the newer era
	caps      []byte // raw clientCapabilities of the newer era
	furthered bool   // a further round, or a member that is not known here: the SDK decodes it
}

// parseCall splits the params of a tools/call. ok is false for what it does not understand; the SDK then finds the
// error, or the meaning.
func parseCall(params []byte) (c callParams, ok bool) {
	if params == nil {
		return c, false
	}
	err := wire.Members(params, func(key string, value []byte) error {
		switch key {
		case "name":
			if value[0] == '"' {
				c.name = wire.Unquote(value)
			}
		case "arguments":
			c.args = value
		case "_meta":
			return c.parseMeta(value)
		default:
			c.furthered = true
		}
		return nil
	})
	return c, err == nil && c.name != ""
}

func (c *callParams) parseMeta(meta []byte) error {
	if meta[0] != '{' {
		return nil
	}
	return wire.Members(meta, func(key string, value []byte) error {
		switch key {
		case "progressToken":
			if value[0] != 'n' {
				c.token = value
			}
		case sdk.MetaKeyProtocolVersion:
			if value[0] == '"' {
				c.version = wire.Unquote(value)
			}
		case sdk.MetaKeyClientInfo:
			c.info = value
		case sdk.MetaKeyClientCapabilities:
			c.caps = value
		}
		return nil
	})
}

// speaker is what a client says about itself, in its handshake or, in the newer era, with every request.
type speaker struct {
	who   Client
	newer bool // revision 2026-07-28: no requests from us, asks ride on answers
	forms bool // it can ask its person to fill in a form
	tasky bool // it speaks the tasks extension
}

func (s *speaker) client() Client { return s.who }
func (s *speaker) modern() bool   { return s.newer }
func (s *speaker) elicits() bool  { return s.forms }
func (s *speaker) tasks() bool    { return s.tasky }

// tasksExtension is the name under which clients and servers declare the tasks extension.
const tasksExtension = "io.modelcontextprotocol/tasks"

// modernSpeaker is a client of the newer era.
func modernSpeaker(version string, info *sdk.Implementation, caps *sdk.ClientCapabilities) speaker {
	s := speaker{who: Client{Protocol: version}, newer: true, forms: canElicit(caps)}
	if info != nil {
		s.who.Name, s.who.Version = info.Name, info.Version
	}
	if caps != nil {
		_, s.tasky = caps.Extensions[tasksExtension]
	}
	return s
}

// legacySpeaker is a client of the older era.
func legacySpeaker(init *sdk.InitializeParams) speaker {
	s := speaker{who: Client{Protocol: min(init.ProtocolVersion, legacyVersion)}, forms: canElicit(init.Capabilities)}
	if init.ClientInfo != nil {
		s.who.Name, s.who.Version = init.ClientInfo.Name, init.ClientInfo.Version
	}
	return s
}

// canElicit reports whether the client can show a form. One that names no mode means forms.
func canElicit(c *sdk.ClientCapabilities) bool {
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

// clientCache remembers what the last requests said about their clients: in the newer era every request says it again.
type clientCache struct {
	mu    sync.Mutex
	known []knownClient
}

type knownClient struct {
	version    string
	info, caps []byte
	speaker    speaker
}

const maxKnownClients = 16

// of returns the client of a request of the newer era. ok is false for an unknown revision or missing capabilities.
func (k *clientCache) of(c *callParams) (who speaker, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, x := range k.known {
		if x.version == c.version && bytes.Equal(x.caps, c.caps) && bytes.Equal(x.info, c.info) {
			return x.speaker, true
		}
	}
	if c.version < modernVersion || !slices.Contains(sdk.SupportedProtocolVersions(), c.version) {
		return who, false
	}
	var caps sdk.ClientCapabilities
	if len(c.caps) == 0 || c.caps[0] != '{' || json.Unmarshal(c.caps, &caps) != nil {
		return who, false
	}
	var info sdk.Implementation
	if c.info != nil && (c.info[0] != '{' || json.Unmarshal(c.info, &info) != nil) {
		return who, false
	}
	x := knownClient{version: c.version, info: bytes.Clone(c.info), caps: bytes.Clone(c.caps), speaker: modernSpeaker(c.version, &info, &caps)}
	if len(k.known) == maxKnownClients {
		k.known = slices.Delete(k.known, 0, 1)
	}
	k.known = append(k.known, x)
	return x.speaker, true
}
