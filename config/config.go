package config

import (
	"time"

	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

// Config is everything that can be set. The zero value works: every zero field means the default that its tag names.
//
// The tags are what files, editors and "tackle config" see: json is the key, jsonschema the description, default what the
// zero value means, and scope who may set it ("" the project once it is trusted, "tighten" an untrusted project in the
// safe direction, "user" never a project).
type Config struct {
	// Roots are the workspace roots. In a file they may begin with "~/"; a project's file may give them relative to the
	// folder that holds .tackle. In memory they are absolute.
	Roots []string `json:"roots,omitempty" kind:"dir" default:"the folder where tackle works" jsonschema:"Workspace roots: folders that tools work in. Absolute, ~/…, or (in a project's file) relative to the folder that holds .tackle."`
	// ReadRoots are folders outside of the roots that posture auto reads without asking.
	ReadRoots []string `json:"read_roots,omitempty" kind:"dir" jsonschema:"Folders outside of the roots that the posture auto reads without asking."`
	StateDir  string   `json:"state_dir,omitempty" kind:"dir" scope:"user" default:"$XDG_STATE_HOME/tackle" jsonschema:"Folder for sessions, journal, before-images and the ledger. Only the person's own configuration may set it."`
	CacheDir  string   `json:"cache_dir,omitempty" kind:"dir" scope:"user" default:"$XDG_CACHE_HOME/tackle" jsonschema:"Folder for what can be made again. Only the person's own configuration may set it."`

	Environment string  `json:"environment,omitempty" jsonschema:"Name of the environment, such as production or test."`
	Project     Project `json:"project,omitzero" jsonschema:"The project that a session works on."`
	Mode        string  `json:"mode,omitempty" default:"code" jsonschema:"Mode in which sessions start: it selects tools and their rules."`

	Model     string              `json:"model,omitempty" jsonschema:"Model of agents, as PROVIDER/NAME: openai/…, anthropic/…, gemini/…, ollama/…, or one of providers."`
	Agent     Agent               `json:"agent,omitzero" jsonschema:"How agents work. Limits are those of one turn."`
	Providers map[string]Provider `json:"providers,omitempty" scope:"user" jsonschema:"Endpoints of models by name, beside openai, anthropic, gemini and ollama. Only the person's own configuration may set them."`

	Posture permission.Posture `json:"posture,omitempty" default:"guarded" jsonschema:"What happens where no rule says anything: plan (look only), guarded (contained work runs, the boundary asks), auto, ci (nobody is there to ask)."`
	// Rules are the rules of this configuration. Of a Merged they are empty: see Merged.Layers.
	Rules []permission.Rule `json:"rules,omitempty" scope:"tighten" jsonschema:"Rules, in order: the last one that matches is this file's opinion, and the strictest opinion of all files wins."`

	Files  Files           `json:"files,omitzero" jsonschema:"How files are changed."`
	Dev    Dev             `json:"dev,omitzero" jsonschema:"Formatters, linters and checkers."`
	Media  Media           `json:"media,omitzero" jsonschema:"Engines for documents, pictures and sound."`
	Skills Skills          `json:"skills,omitzero" jsonschema:"Skills: folders with a SKILL.md that tell a model how to do one kind of work."`
	Output Output          `json:"output,omitzero" jsonschema:"How much of a result a model sees; the rest becomes an artifact. Both limits hold together; -1 is no limit."`
	Limits Limits          `json:"limits,omitzero" jsonschema:"Limits of calls."`
	Shell  Shell           `json:"shell,omitzero" jsonschema:"How commands run."`
	Tasks  Tasks           `json:"tasks,omitzero" jsonschema:"Background tasks: commands that go on while the session does."`
	Tools  map[string]Tool `json:"tools,omitempty" jsonschema:"Changes to single tools, by their default name."`

	Artifacts Retention `json:"artifacts,omitzero" jsonschema:"How long outputs are kept that no session refers to any more."`
	Images    Retention `json:"images,omitzero" jsonschema:"How long before-images are kept, which undo needs."`

	Services Services `json:"services,omitzero" jsonschema:"Credentials of services. A tool whose credential is missing is not listed."`
}

// Project names the project.
type Project struct {
	ID   string `json:"id,omitempty" jsonschema:"Identifier of the project."`
	Name string `json:"name,omitempty" jsonschema:"Name of the project for people."`
}

// Files says how files are changed.
type Files struct {
	RequireRead bool `json:"require_read,omitempty" scope:"tighten" default:"false" jsonschema:"Refuse to change a file that the session has not read, or that changed since."`
	Durable     bool `json:"durable,omitempty" default:"false" jsonschema:"Sync files to disk before a change is reported."`
}

// Agent says how agents work. Limits are those of one turn; zero fields mean the default, negative ones no limit.
type Agent struct {
	Rounds     int           `json:"rounds,omitempty" default:"200" jsonschema:"Answers of the model."`
	Tokens     int           `json:"tokens,omitempty" default:"no limit" jsonschema:"Tokens that are read and written, caches included."`
	Cost       float64       `json:"cost,omitempty" default:"no limit" jsonschema:"US dollars, where the prices of the model are known."`
	Time       time.Duration `json:"time,omitempty" default:"no limit" jsonschema:"Time, such as 20m."`
	TitleModel string        `json:"title_model,omitempty" default:"titles are the first words" jsonschema:"A cheap model that gives sessions their titles, as PROVIDER/NAME."`
}

// Provider is an endpoint that serves models.
type Provider struct {
	API    string      `json:"api,omitempty" default:"chat" jsonschema:"What the endpoint speaks: chat (the chat completions of OpenAI, as most compatible ones do), responses, anthropic, gemini or ollama."`
	URL    string      `json:"url,omitempty" jsonschema:"Address of the endpoint, such as http://localhost:8000/v1."`
	Key    tool.Secret `json:"key,omitzero" jsonschema:"The key, as a reference to an environment variable: ${NAME}. Leave it out where none is needed."`
	Window int         `json:"window,omitempty" jsonschema:"Tokens of a request and its answer, where the adapter does not know the model."`
	Output int         `json:"output,omitempty" jsonschema:"Tokens of an answer at most, where the adapter does not know the model."`
	Images bool        `json:"images,omitempty" default:"as the name of the model tells" jsonschema:"Its models take pictures."`
	Files  bool        `json:"files,omitempty" default:"as the name of the model tells" jsonschema:"Its models take PDF files."`
	Audio  bool        `json:"audio,omitempty" default:"false" jsonschema:"Its models take sound."`
}

// Dev says how the dev pipeline works.
type Dev struct {
	FormatOnEdit bool     `json:"format_on_edit,omitempty" default:"false" jsonschema:"Format what an edit changes, before it is shown and written. Only by formatters that work inside tackle."`
	Engines      []string `json:"engines,omitempty" default:"all that are found" jsonschema:"Names of the engines to use, the preferred first; tackle doctor lists them."`
	Surface      string   `json:"surface,omitempty" default:"granular" jsonschema:"Tools of the mode dev: granular (one for each step) or composite (one, dev_plan, for models that plan well)."`

	Commands map[string]DevCommand `json:"commands,omitempty" jsonschema:"Programs that become engines, by the name of the engine."`
}

// DevCommand makes an engine of a program.
type DevCommand struct {
	Files  []string `json:"files,omitempty" jsonschema:"Names of the files that it serves, such as *.py."`
	Format []string `json:"format,omitempty" jsonschema:"Command line that formats its files in place; {files} stands for their names, which otherwise come last."`
	Lint   []string `json:"lint,omitempty" jsonschema:"Command line that finds questionable code."`
	Fix    []string `json:"fix,omitempty" jsonschema:"Command line that repairs its files in place."`
	Check  []string `json:"check,omitempty" jsonschema:"Command line that finds errors."`
	Find   string   `json:"find,omitempty" jsonschema:"How its output is read: sarif, rdjson, or a regular expression with the groups file, line, column, severity, code and message."`
	Exits  []int    `json:"exits,omitempty" jsonschema:"Exit statuses beside 0 that are no failure, such as 1 for: something was found."`
	Config []string `json:"config,omitempty" jsonschema:"Names of its configuration files."`
	Inputs []string `json:"inputs,omitempty" jsonschema:"Names of all files on which its findings depend, for a program that looks at the whole project."`
	Links  []string `json:"links,omitempty" jsonschema:"Folders of the root that it needs beside the files, such as node_modules."`
}

// Media says which engines there are beside those that are found.
type Media struct {
	Programs *bool  `json:"programs,omitempty" scope:"tighten" default:"true" jsonschema:"false: use no programs of the machine (LibreOffice, tesseract, ffmpeg and others) for media."`
	Speech   Speech `json:"speech,omitzero" scope:"user" jsonschema:"A service, or a model, that writes speech down. Only the person's own configuration may set it, because sound is sent there."`
}

// Speech names a service with the interface of OpenAI, or a model for a recogniser of the machine.
type Speech struct {
	URL       string      `json:"url,omitempty" jsonschema:"Address of a service with the interface of OpenAI, such as http://127.0.0.1:8000/v1."`
	Model     string      `json:"model,omitempty" jsonschema:"Name of the model of the service."`
	ModelFile string      `json:"model_file,omitempty" jsonschema:"Model for whisper-cli or vosk-transcriber, an absolute path."`
	APIKey    tool.Secret `json:"api_key,omitzero" jsonschema:"The key of the service, as a reference to an environment variable: ${NAME}."`
}

// Skills says where skills are looked for.
type Skills struct {
	Enabled *bool    `json:"enabled,omitempty" scope:"tighten" default:"true" jsonschema:"false: no skills, and no tools for them."`
	Folders []string `json:"folders,omitempty" kind:"dir" jsonschema:"Folders of skills beside the usual ones (skills in .tackle, .agents and .claude, of the project and of the person)."`
}

// Output is the shared limit of results (O1). Zero fields mean the default, negative ones no limit.
type Output struct {
	Lines int  `json:"lines,omitempty" default:"2000" jsonschema:"Lines of one result."`
	Bytes Size `json:"bytes,omitempty" default:"50 KiB" jsonschema:"Bytes of one result: a number, or a number with a unit (KB, KiB, MB, MiB, GB, GiB)."`
}

// Limits of calls.
type Limits struct {
	Timeout  time.Duration `json:"timeout,omitempty" default:"2m" jsonschema:"Longest time that one call may take, such as 90s or 5m; for commands shell.max_timeout counts."`
	Parallel int           `json:"parallel,omitempty" default:"twice the processors" jsonschema:"Calls of one turn that run at once."`
}

// Shell says how commands run.
type Shell struct {
	Timeout    time.Duration `json:"timeout,omitempty" default:"30s" jsonschema:"How long a command may take that names no timeout of its own."`
	MaxTimeout time.Duration `json:"max_timeout,omitempty" default:"10m" jsonschema:"Longest timeout that a command may name."`
	Output     Size          `json:"output,omitempty" default:"32 KiB" jsonschema:"How much of the output of a command a model sees: its end, or start and end of a command that explores. -1 is no limit but that of results."`
	// Pass names variables that commands inherit beside the harmless ones. Tokens reach commands only by this list.
	Pass []string `json:"pass,omitempty" scope:"user" jsonschema:"Environment variables that commands inherit beside the usual ones (a name, or a prefix with * such as AWS_*). Only the person's own configuration may set it."`
}

// Tasks says how background tasks are kept.
type Tasks struct {
	Enabled  *bool         `json:"enabled,omitempty" scope:"tighten" default:"true" jsonschema:"false: commands run in the foreground only."`
	Dir      string        `json:"dir,omitempty" kind:"dir" scope:"user" default:"tasks in the state folder" jsonschema:"Folder for the logs of tasks. Only the person's own configuration may set it."`
	Running  int           `json:"running,omitempty" default:"32" jsonschema:"Tasks of one server that run at once."`
	Log      Size          `json:"log,omitempty" default:"32 MiB" jsonschema:"Bytes of output that are kept of one command or task: the start and the end."`
	MaxAge   time.Duration `json:"max_age,omitempty" default:"7d" jsonschema:"Longest time that an ended task is kept, such as 12h or 7d."`
	MaxBytes Size          `json:"max_bytes,omitempty" default:"1 GiB" jsonschema:"Bytes that ended tasks take at most: a number, or a number with a unit."`
}

// Tool changes one tool. Empty fields keep what the tool has.
type Tool struct {
	Enabled     *bool  `json:"enabled,omitempty" scope:"tighten" jsonschema:"false takes the tool away."`
	Name        string `json:"name,omitempty" jsonschema:"Name under which models see the tool."`
	Description string `json:"description,omitempty" jsonschema:"Description that models see instead of the tool's own."`
}

// Retention bounds what is kept by age and by total size; the oldest goes first. Zero fields mean the default.
type Retention struct {
	MaxAge   time.Duration `json:"max_age,omitempty" default:"30d" jsonschema:"Longest time that something is kept, such as 12h or 30d."`
	MaxBytes Size          `json:"max_bytes,omitempty" default:"1 GiB" jsonschema:"Bytes that are kept at most: a number, or a number with a unit."`
}

// Services holds the credentials of services.
type Services struct {
	Google Google `json:"google,omitzero" jsonschema:"Google's services."`
}

// Google holds the credentials of Google's services.
type Google struct {
	CSE CSE `json:"cse,omitzero" jsonschema:"Custom Search JSON API."`
}

// CSE is the credential of a custom search engine.
type CSE struct {
	APIKey   tool.Secret `json:"api_key,omitzero" jsonschema:"The key, as a reference to an environment variable: ${NAME}."`
	EngineID string      `json:"engine_id,omitempty" jsonschema:"Identifier of the search engine."`
}

// reserved are keys that mean something to a later version. They are refused with this reason, so that a file does not
// seem to work.
func reserved(path string) string {
	if path == "mcp" {
		return "the key is reserved for MCP servers that tackle connects to, which this version does not"
	}
	return ""
}
