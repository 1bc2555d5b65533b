package tackle

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/skill"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
	skilltools "github.com/tackle-dev/tackle/tools/skill"
)

// skillRoom finds the skills of the project and of the person, and reads them once, when they are first asked for.
type skillRoom struct {
	places []skill.Place
	mine   []string // folders that the person keeps skills in
	any    func() bool

	mu   sync.Mutex
	all  *skill.Catalogue
	kept func(path string) bool
}

// Names of the places of skills.
const (
	projectSkills = "project"
	userSkills    = "user"
	moreSkills    = "folder" // of the configuration
)

// newSkillRoom looks nowhere yet.
func (b *Box) newSkillRoom() *skillRoom {
	r := &skillRoom{any: func() bool { return false }}
	r.kept = r.isKept
	on := b.merged.Config.Skills.Enabled
	if b.cfg.NoFiles || b.cfg.Host != nil || on != nil && !*on {
		return r
	}
	add := func(name, dir string) {
		if !slices.ContainsFunc(r.places, func(p skill.Place) bool { return p.Dir == dir }) {
			r.places = append(r.places, skill.Place{Name: name, Dir: dir, FS: os.DirFS(dir)})
		}
	}
	for _, dir := range above(b.cfg.Dir, b.cfg.Roots) {
		for _, kind := range skillFolders {
			add(projectSkills, filepath.Join(dir, kind, "skills"))
		}
	}
	for _, dir := range b.merged.Config.Skills.Folders {
		add(moreSkills, dir)
	}
	if file := b.userFile(); file != "" {
		r.mine = append(r.mine, filepath.Join(filepath.Dir(file), "skills"))
	}
	if home, err := os.UserHomeDir(); err == nil {
		for _, kind := range skillFolders[1:] {
			r.mine = append(r.mine, filepath.Join(home, kind, "skills"))
		}
	}
	for _, dir := range r.mine {
		add(userSkills, dir)
	}
	r.any = sync.OnceValue(func() bool { return skill.Any(context.Background(), r.places) })
	return r
}

// skillFolders hold a folder "skills", in a project and (but the first) in the person's home.
var skillFolders = []string{".tackle", ".agents", ".claude"}

// above lists dir and the folders above it up to the workspace root that holds it, the nearest first.
func above(dir string, roots []string) []string {
	out := []string{dir}
	for !slices.Contains(roots, dir) && slices.ContainsFunc(roots, func(root string) bool {
		rel, err := filepath.Rel(root, dir)
		return err == nil && filepath.IsLocal(rel)
	}) {
		dir = filepath.Dir(dir)
		out = append(out, dir)
	}
	return out
}

// load reads the skills, once. An error of the context is not kept.
func (r *skillRoom) load(ctx context.Context) (*skill.Catalogue, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		all, err := skill.Load(ctx, r.places)
		if err != nil {
			return nil, err
		}
		r.all = all
	}
	return r.all, nil
}

// isKept reports whether a path lies in a folder that the person keeps skills in, or in one that a link there leads to.
func (r *skillRoom) isKept(path string) bool {
	if len(r.mine) == 0 {
		return false
	}
	for _, dir := range r.dirs() {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// dirs are the folders of the person's skills, as named and as they resolve.
func (r *skillRoom) dirs() []string {
	r.mu.Lock()
	all := r.all
	r.mu.Unlock()
	out := slices.Clone(r.mine)
	for _, dir := range r.mine {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			out = append(out, real)
		}
	}
	if all == nil {
		return out
	}
	for _, s := range all.Skills {
		if s.Place == userSkills {
			if real, err := filepath.EvalSymlinks(s.Dir); err == nil {
				out = append(out, real)
			}
		}
	}
	return out
}

// Skills returns the skills of the project and of the person, with what was found about every candidate. They are read
// once. A box without configuration files, or with a host of its own, has none.
func (b *Box) Skills(ctx context.Context) (*skill.Catalogue, error) { return b.skills.load(ctx) }

// SkillPlaces returns the folders in which skills are looked for, the one that comes first first.
func (b *Box) SkillPlaces() []skill.Place { return slices.Clone(b.skills.places) }

// skillTools are the tools over skills, where there are any: a list of tools is a function of the folder it is made for.
func (b *Box) skillTools() []tool.Tool {
	if !b.skills.any() {
		return nil
	}
	return skilltools.Tools(skilltools.Config{Load: b.skills.load, Known: func(call *tool.Call, name string) bool {
		return b.lists(toolbox.View{Mode: call.Mode, Model: call.Model}, name)
	}})
}

// lists reports whether a view has a tool, by its name here or in another program.
func (b *Box) lists(v toolbox.View, name string) bool {
	return slices.ContainsFunc(b.Tools(v), func(d tool.Definition) bool { return alike(d.Name, name) })
}

// maxPromptSkills bounds the skills that a system prompt names; list_skills shows the rest.
const maxPromptSkills = 100

// promptSkills are the skills that a system prompt names: those that a model may start, where its tools have a way to.
func (b *Box) promptSkills(v toolbox.View) []agent.Skill {
	if !b.skills.any() || !b.lists(v, "skills_use") {
		return nil
	}
	all, err := b.Skills(context.Background())
	if err != nil {
		return nil // only an end of the context is an error, and this one does not end
	}
	var out []agent.Skill
	more := 0
	for _, s := range all.Skills {
		switch {
		case s.Manual:
		case len(out) == maxPromptSkills:
			more++
		default:
			out = append(out, agent.Skill{Name: s.Name, Description: b.mask(s.Description)})
		}
	}
	if more > 0 {
		out = append(out, agent.Skill{Name: fmt.Sprintf("and %d more", more), Description: "list_skills shows them"})
	}
	return out
}

// alike compares the names of tools as programs spell them: Read, read_file and ReadFile are other words for one thing.
func alike(ours, theirs string) bool {
	fold := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "") }
	a, b := fold(ours), fold(theirs)
	return a == b || slices.Contains(otherNames[ours], b)
}

// otherNames are the words that other programs have for tools of ours, folded.
var otherNames = map[string][]string{
	"read_file": {"read", "view", "notebookread"}, "write_file": {"write", "create"}, "edit": {"strreplace", "replace"}, "multi_edit": {"multiedit"},
	"shell": {"bash", "execute", "runshellcommand"}, "list_dir": {"ls", "listdirectory"}, "fetch_url": {"webfetch", "fetch"}, "search_google": {"websearch"},
	"spawn": {"task", "agent"}, "todo": {"todowrite", "todoread"}, "skills_use": {"skill"}, "apply_patch": {"patch"}, "ask_user": {"askuserquestion"},
}

// SkillText is what a model is told when a person starts a skill.
// Errors: *tool.Error with NOT_FOUND.
func (b *Box) SkillText(ctx context.Context, name, arguments string) (string, error) {
	all, err := b.Skills(ctx)
	if err != nil {
		return "", err
	}
	s, err := skilltools.Find(all, name)
	if err != nil {
		return "", err
	}
	missing := skilltools.Missing(s, func(tool string) bool { return b.lists(toolbox.View{Mode: b.cfg.Mode}, tool) })
	return skilltools.Instructions(s, arguments, missing), nil
}
