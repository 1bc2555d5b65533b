package tackle

import (
	"context"
	"fmt"
	"io/fs"
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

	mu    sync.Mutex
	all   *skill.Catalogue
	found []string // what dirs gives, once the skills are read; nil before
	kept  func(path string) bool
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
	if file := b.userFile(); file != "" {
		r.mine = append(r.mine, filepath.Join(filepath.Dir(file), "skills"))
	}
	if home, err := os.UserHomeDir(); err == nil {
		for _, kind := range skillFolders[1:] {
			r.mine = append(r.mine, filepath.Join(home, kind, "skills"))
		}
	}
	in := sync.OnceValue(func() []string { return resolved(append(slices.Concat(b.cfg.Roots, r.mine), b.cfg.Dir)) })
	add := func(name, dir string) {
		if !slices.ContainsFunc(r.places, func(p skill.Place) bool { return p.Dir == dir }) {
			files := os.DirFS(dir)
			if (name == projectSkills || inAny(dir, b.cfg.Roots)) && !slices.Contains(r.mine, dir) {
				files = within{dir, files, in}
			}
			r.places = append(r.places, skill.Place{Name: name, Dir: dir, FS: files})
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
func (r *skillRoom) isKept(path string) bool { return len(r.mine) > 0 && inAny(path, r.dirs()) }

func inAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		rel, err := filepath.Rel(dir, path)
		return err == nil && filepath.IsLocal(rel)
	})
}

// dirs are the folders of the person's skills, as named and as they resolve. Once the skills are read they stay the same:
// policy asks for each path outside of the workspace.
func (r *skillRoom) dirs() []string {
	r.mu.Lock()
	all, found := r.all, r.found
	r.mu.Unlock()
	if found != nil {
		return found
	}
	out := append(slices.Clone(r.mine), resolved(r.mine)...)
	if all == nil {
		return out
	}
	for _, s := range all.Skills {
		if s.Place != userSkills {
			continue
		}
		if real, err := filepath.EvalSymlinks(s.Dir); err == nil && !inAny(real, out) {
			out = append(out, real)
		}
	}
	r.mu.Lock()
	r.found = out
	r.mu.Unlock()
	return out
}

// resolved are those of some folders that exist, without links.
func resolved(dirs []string) []string {
	var out []string
	for _, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			out = append(out, real)
		}
	}
	return out
}

// within is a folder of the workspace, of which nothing is read that leads out of it: a project could show the model, as the
// description of a skill, any file of the person.
type within struct {
	dir   string
	files fs.FS
	in    func() []string // resolved
}

func (w within) check(op, name string) error {
	real, err := filepath.EvalSymlinks(filepath.Join(w.dir, filepath.FromSlash(name)))
	if err == nil && !inAny(real, w.in()) {
		err = &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("it leads out of the workspace, to %s, which skills.folders of your own configuration can name", real)}
	}
	return err
}

// Open is described at fs.FS, Stat at fs.StatFS, ReadDir at fs.ReadDirFS.
func (w within) Open(name string) (fs.File, error) {
	if err := w.check("open", name); err != nil {
		return nil, err
	}
	return w.files.Open(name)
}

// Stat is described at fs.StatFS.
func (w within) Stat(name string) (fs.FileInfo, error) {
	if err := w.check("stat", name); err != nil {
		return nil, err
	}
	return fs.Stat(w.files, name)
}

// ReadDir is described at fs.ReadDirFS.
func (w within) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := w.check("readdir", name); err != nil {
		return nil, err
	}
	return fs.ReadDir(w.files, name)
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
