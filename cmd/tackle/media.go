package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle/host/local"
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine"
	"github.com/tackle-dev/tackle/tool"
)

func (a *app) mediaCommand() *cobra.Command {
	var out string
	var force bool
	cmd := &cobra.Command{
		Use:   "media FILE STATEMENT",
		Short: "Read, change, convert or create a file by a statement",
		Long: "Read, change, convert or create a file by a statement: steps joined by |, each a verb with name=value arguments.\n" +
			"FILE is a file, - for standard input, or empty:FORMAT for a new one. Other files are named @\"PATH\" in the statement.\n" +
			"Text that is read goes to standard output; a file that is made goes to OUT. FILE itself is never changed unless it is OUT.\n" +
			"'tackle media verbs' lists the verbs.",
		Example: `  tackle media data.xlsx 'extract text'
  tackle media data.xlsx 'sheet rename_sheet sheet=Sheet1 to="Data"' -o new.xlsx
  tackle media empty:xlsx "sheet add_rows rows='[[1,2]]'" -o new.xlsx
  tackle media photo.jpg 'image resize width=800 | image strip_metadata' -o small.jpg
  tackle media old.csv 'diff with=@"new.csv"'`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := a.media(cmd.Context(), args[0], args[1], out, force)
			var e *media.Error
			if errors.As(err, &e) {
				fmt.Fprintln(a.err, forPeople(a.err, (&tool.Error{Code: tool.Code(e.Code), Message: e.Fact(), Hint: e.Advice()}).RenderLine()))
				return exit(exitFailed)
			}
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write, or folder where the statement makes several; - for standard output")
	cmd.Flags().BoolVar(&force, "force", false, "write over a file that exists")
	cmd.AddCommand(&cobra.Command{
		Use: "verbs", Short: "List the verbs that work here", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			found, err := box.MediaPrograms(cmd.Context())
			if err != nil {
				return err
			}
			p := box.MediaPipeline()
			for _, v := range p.Verbs() {
				fmt.Fprintf(a.out, "%s\n    %s\n", v.Signature(), v.Doc)
			}
			fmt.Fprintf(a.out, "\nNew files: empty:FORMAT with %s\n", strings.Join(p.Creatable(), ", "))
			var names []string
			for _, f := range found {
				if f.Engine != nil {
					names = append(names, strings.TrimSpace(f.Name+" "+f.Version))
				}
			}
			if names != nil {
				fmt.Fprintf(a.out, "Programs that are used: %s. 'tackle doctor' says of the others why not.\n", strings.Join(names, ", "))
			}
			return nil
		},
	})
	return cmd
}

// cache is where engines keep what makes them fast; "" where there is no place for it.
func (a *app) cache() string {
	state := a.state
	if state == "" {
		dir, err := local.DefaultStateDir()
		if err != nil {
			return ""
		}
		state = dir
	}
	return filepath.Join(state, "cache")
}

// media runs a statement on a file for the person at the terminal.
func (a *app) media(ctx context.Context, file, statement, out string, force bool) error {
	p, err := media.New(media.Config{Engines: engine.With(engine.Config{Cache: a.cache()})})
	if err != nil {
		return err
	}
	res, err := a.runMedia(ctx, p, file, statement)
	var e *media.Error
	if errors.As(err, &e) && (e.Code == media.EngineRequired || e.Code == media.UnsupportedOp || e.Code == "EMPTY_FORMAT_UNAVAILABLE") {
		res, err = a.withPrograms(ctx, file, statement, err)
	}
	if err != nil {
		return err
	}
	for _, w := range res.Warnings {
		fmt.Fprintln(a.err, forPeople(a.err, "Note: "+w))
	}
	switch {
	case res.Read != nil:
		text := res.Read.Text
		if text == "" {
			if text, err = jsonText(res.Read.Data); err != nil {
				return err
			}
		}
		if out != "" && out != "-" {
			return a.write(out, []byte(text), force)
		}
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		_, err = io.WriteString(a.out, forPeople(a.out, text))
		return err
	case res.Media != nil && (out == "-" || out == "" && !isTerminal(a.out)):
		_, err = a.out.Write(res.Media.Data)
		return err
	case res.Media != nil && out == "":
		return usage{fmt.Errorf("media: the statement makes %s (%d bytes); say with -o where to write it", res.Media.Name, len(res.Media.Data))}
	case res.Media != nil:
		return a.write(out, res.Media.Data, force)
	case out == "" || out == "-":
		return usage{fmt.Errorf("media: the statement makes %d files; say with -o in which folder to write them", len(res.List))}
	}
	return a.writeAll(out, res.List, force)
}

// runMedia runs a statement on a file.
func (a *app) runMedia(ctx context.Context, p *media.Pipeline, file, statement string) (media.Result, error) {
	plan, err := p.Compile(statement)
	if err != nil {
		return media.Result{}, err
	}
	var in media.Payload
	if format, ok := media.EmptyID(file); ok {
		in, err = p.Create(ctx, format)
	} else {
		in, err = a.mediaFile(file)
	}
	if err != nil {
		return media.Result{}, err
	}
	return p.Run(ctx, in, plan, media.RunOptions{Resolve: func(_ context.Context, id string) (media.Payload, error) { return a.mediaFile(id) }})
}

// withPrograms runs a statement that the engines inside cannot run, with the programs of the machine. Where none of them
// helps, what the engines said stands.
func (a *app) withPrograms(ctx context.Context, file, statement string, inside error) (media.Result, error) {
	box, err := a.open(ctx)
	if err != nil {
		return media.Result{}, inside
	}
	defer box.Close()
	if _, err := box.MediaPrograms(ctx); err != nil {
		return media.Result{}, errors.Join(inside, err)
	}
	return a.runMedia(ctx, box.MediaPipeline(), file, statement)
}

// mediaFile reads a file that a person named.
func (a *app) mediaFile(name string) (media.Payload, error) {
	var data []byte
	var err error
	if name == "-" {
		data, err = io.ReadAll(a.in)
		return media.Payload{Data: data, Name: "input"}, err
	}
	path := name
	if a.dir != "" && !filepath.IsAbs(path) {
		path = filepath.Join(a.dir, path)
	}
	if data, err = os.ReadFile(path); errors.Is(err, fs.ErrNotExist) {
		return media.Payload{}, &media.Error{Code: media.NotFound, Message: fmt.Sprintf("there is no file %q.", name)}
	}
	return media.Payload{Data: data, Name: filepath.Base(path)}, err
}

func jsonText(v any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return b.String(), err
}

// write puts a file in place as a whole: a program that stops half way leaves the old one.
func (a *app) write(name string, data []byte, force bool) error {
	path := name
	if a.dir != "" && !filepath.IsAbs(path) {
		path = filepath.Join(a.dir, path)
	}
	if _, err := os.Lstat(path); err == nil && !force {
		return usage{fmt.Errorf("media: %s exists; --force writes over it", name)}
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".tackle-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", name, err), os.Remove(f.Name()))
	}
	fmt.Fprintf(a.err, "Wrote %s (%d bytes).\n", forPeople(a.err, name), len(data))
	return nil
}

// writeAll writes several files into a folder. Their names come from the media, so they are made safe, and never two alike.
func (a *app) writeAll(dir string, list []media.Payload, force bool) error {
	root := dir
	if a.dir != "" && !filepath.IsAbs(root) {
		root = filepath.Join(a.dir, root)
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	used := map[string]bool{}
	for i := range list {
		name := strings.TrimLeft(media.CleanName(list[i].Name), ".")
		if name == "" || used[name] {
			name = fmt.Sprintf("%d-%s", i+1, name)
		}
		used[name] = true
		if err := a.write(filepath.Join(dir, name), list[i].Data, force); err != nil {
			return err
		}
	}
	return nil
}
