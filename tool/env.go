package tool

import "encoding/json"

// Environment carries services, credentials, workspace and project from configuration to the tools (T9).
// Every field is optional.
type Environment struct {
	Name      string    `json:"name,omitempty"` // "production", "test", …
	Services  Services  `json:"services,omitzero"`
	Workspace Workspace `json:"workspace,omitzero"`
	Project   Project   `json:"project,omitzero"`
	Mode      string    `json:"mode,omitempty"`
}

// Services holds credentials by service.
type Services struct {
	Google Google `json:"google,omitzero"`
	// Models are the keys of models. No tool uses them; they are here to be hidden wherever they turn up.
	Models []Secret `json:"-"`
}

// Google holds the credentials of Google's services.
type Google struct {
	CSE CSE `json:"cse,omitzero"` // Custom Search JSON API
}

// CSE is the credential of a custom search engine.
type CSE struct {
	APIKey   Secret `json:"apiKey,omitzero"`
	EngineID string `json:"engineId,omitempty"`
}

// Workspace says where tools work. Paths are absolute.
type Workspace struct {
	WorkspaceDir string   `json:"workspaceDir,omitempty"`
	ProjectDir   string   `json:"projectDir,omitempty"`
	CacheDir     string   `json:"cacheDir,omitempty"`
	Roots        []string `json:"roots,omitempty"` // further roots
}

// Project names the project that a session works on.
type Project struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
}

// Has reports whether the environment holds the credential that a Definition names.
func (e Environment) Has(credential string) bool {
	switch credential {
	case "":
		return true
	case "google.cse":
		return !e.Services.Google.CSE.APIKey.IsZero() && e.Services.Google.CSE.EngineID != ""
	}
	return false
}

// Secrets returns every secret value that is set, for redaction.
func (e Environment) Secrets() []string {
	var out []string
	if s := e.Services.Google.CSE.APIKey.Reveal(); s != "" {
		out = append(out, s)
	}
	for _, s := range e.Services.Models {
		if s := s.Reveal(); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Secret is a credential. It prints and marshals as a placeholder; only Reveal gives the value.
type Secret struct{ value string }

// NewSecret wraps a credential.
func NewSecret(value string) Secret { return Secret{value} }

// Reveal returns the credential. Call it where the credential is used and nowhere else.
func (s Secret) Reveal() string { return s.value }

// IsZero reports whether no credential is set.
func (s Secret) IsZero() bool { return s.value == "" }

const redacted = "[secret]"

func (s Secret) String() string   { return s.show() }
func (s Secret) GoString() string { return s.show() }

func (s Secret) show() string {
	if s.value == "" {
		return ""
	}
	return redacted
}

// MarshalJSON writes the placeholder.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.show()) }
