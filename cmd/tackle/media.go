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
	"slices"
	"strings"
	"sync/atomic"

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
			"What is read, and text that is made, goes to standard output; other files that are made go to OUT, or into a pipe.\n" +
			"OUT is a file, a folder that exists, or - for standard output. No file is changed that is not named as OUT, and one\n" +
			"that exists only with --force. 'tackle media verbs' lists the verbs.",
		Example: `  tackle media data.xlsx 'extract text'
  tackle media data.xlsx 'sheet rename_sheet sheet=Sheet1 to="Data"' -o new.xlsx
  tackle media empty:xlsx "sheet add_rows rows='[[1,2]]'" -o new.xlsx
  tackle media photo.jpg 'image resize width=800 | image strip_metadata' -o small.jpg
  tackle media old.csv 'diff with=@"new.csv"'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 2 {
				return nil
			}
			return fmt.Errorf("want FILE and one STATEMENT in quotes, got %d arguments: tackle media data.csv 'extract text' (verbs: 'tackle media verbs')", len(args))
		},
		ValidArgsFunction: completeMedia,
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
	cmd.Flags().StringVarP(&out, "output", "o", "", "file or folder to write to; - for standard output")
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
				if n := v.Notes(); n != "" {
					fmt.Fprintf(a.out, "    %s\n", n)
				}
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

// completeMedia completes FILE as a file, and the first words of STATEMENT as verbs.
func completeMedia(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		if len(args) > 1 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
	p, err := media.New(media.Config{Engines: engine.All()})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var out []string
	for _, v := range p.Verbs() {
		out = append(out, strings.ReplaceAll(v.ID, ".", " ")+"\t"+v.Doc)
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
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
	inside := engine.With(engine.Config{Cache: a.cache()})
	var unread atomic.Bool
	p, err := media.New(media.Config{Engines: append(slices.Clone(inside), whoReads(&unread))})
	if err != nil {
		return err
	}
	var in media.Payload
	if _, empty := media.EmptyID(file); !empty {
		if in, err = a.mediaFile(file); err != nil {
			return err
		}
	}
	res, err := a.runMedia(ctx, p, file, in, statement)
	var e *media.Error
	if unread.Load() || errors.As(err, &e) && (e.Code == media.EngineRequired || e.Code == media.UnsupportedOp || e.Code == "EMPTY_FORMAT_UNAVAILABLE") {
		res, err = a.withPrograms(ctx, file, in, statement, inside)
	}
	if err != nil {
		return err
	}
	for _, w := range res.Warnings {
		fmt.Fprintln(a.err, forPeople(a.err, "Note: "+w))
	}
	return a.give(&res, out, force)
}

// runMedia runs a statement on a file that was read, or on a new one.
func (a *app) runMedia(ctx context.Context, p *media.Pipeline, file string, in media.Payload, statement string) (media.Result, error) {
	plan, err := p.Compile(statement)
	if err != nil {
		return media.Result{}, err
	}
	if format, ok := media.EmptyID(file); ok {
		if in, err = p.Create(ctx, format); err != nil {
			return media.Result{}, err
		}
	}
	opt := media.RunOptions{Resolve: func(_ context.Context, id string) (media.Payload, error) { return a.mediaFile(id) }}
	if isTerminal(a.err) {
		opt.Progress = func(done, total int, next string) {
			fmt.Fprintf(a.err, "\r\x1b[K%s (%d of %d) …", next, done+1, total)
		}
		defer fmt.Fprint(a.err, "\r\x1b[K")
	}
	return p.Run(ctx, in, plan, opt)
}

// whoReads stands for a program that reads pictures, for as long as nobody knows whether there is one: it notes that it was
// asked. Then the run counts for nothing, and there is another with what is found.
func whoReads(asked *atomic.Bool) media.Engine {
	do := func(context.Context, *media.Request) (media.Result, error) {
		asked.Store(true)
		return media.Result{}, media.Failf("nobody has looked for a program that reads pictures.")
	}
	return media.Engine{ID: "who-reads", Convert: []media.Convert{{From: []string{"image/png", "image/jpeg", "image/tiff", "image/bmp", "image/gif", "image/webp"}, To: []string{"txt"}, Keep: media.Text, Do: do}}}
}

// withPrograms runs a statement again, with the programs of the machine beside the engines inside.
func (a *app) withPrograms(ctx context.Context, file string, in media.Payload, statement string, inside []media.Engine) (media.Result, error) {
	p, err := media.New(media.Config{Engines: inside})
	if err != nil {
		return media.Result{}, err
	}
	if box, err := a.open(ctx); err == nil { // without a place for state there are no programs
		defer box.Close()
		if isTerminal(a.err) { // the first time takes seconds
			fmt.Fprint(a.err, "\r\x1b[Klooking for programs that help …")
		}
		_, err := box.MediaPrograms(ctx)
		if isTerminal(a.err) {
			fmt.Fprint(a.err, "\r\x1b[K")
		}
		if err != nil {
			return media.Result{}, err
		}
		p = box.MediaPipeline()
	}
	return a.runMedia(ctx, p, file, in, statement)
}

// give shows or writes what a statement gave.
func (a *app) give(res *media.Result, out string, force bool) error {
	m := res.Media
	switch {
	case res.Read != nil:
		text := res.Read.Text
		if words, ok := res.Read.Data.(string); ok && text == "" {
			if text = words; strings.TrimSpace(text) == "" {
				fmt.Fprintln(a.err, "Note: There are no words in it.")
			}
		} else if text == "" {
			var err error
			if text, err = jsonText(res.Read.Data); err != nil {
				return err
			}
		}
		if !strings.HasSuffix(text, "\n") && (out == "" || out == "-") {
			text += "\n"
		}
		m = &media.Payload{Data: []byte(text), MIME: "text/plain", Name: "text.txt"}
	case m == nil && (out == "" || out == "-"):
		return usage{fmt.Errorf("media: the statement makes %d files; say with -o in which folder to write them", len(res.List))}
	case m == nil:
		return a.writeAll(out, res.List, force)
	}
	switch {
	case out == "-" || out == "" && (!isTerminal(a.out) || media.Textual(m.MIME)):
		_, err := io.WriteString(a.out, forPeople(a.out, string(m.Data)))
		return err
	case out == "":
		return usage{fmt.Errorf("media: the statement makes %s (%d bytes); say with -o where to write it", m.Name, len(m.Data))}
	}
	if fi, err := os.Stat(a.at(out)); err == nil && fi.IsDir() || os.IsPathSeparator(out[len(out)-1]) {
		out = filepath.Join(out, safeName(m.Name))
	} else if err := mislabelled(out, m); err != nil {
		return err
	}
	return a.write(out, m.Data, force)
}

// mislabelled refuses to write a format under the extension of another, where that would be a file that nothing opens.
func mislabelled(out string, m *media.Payload) error {
	says, ok := media.FormatOf(strings.TrimPrefix(filepath.Ext(out), "."))
	is, known := media.FormatOf(m.MIME)
	if !ok || !known || says.MIME == is.MIME || media.Textual(says.MIME) && media.Textual(is.MIME) {
		return nil
	}
	convert := "convert to=" + says.Token
	if is.Family == media.Image && says.Family == media.Image {
		convert = "image format to=" + says.Token
	}
	return usage{fmt.Errorf("media: the statement makes %s, and %s says %s; name it %s, or end the statement with | %s", is.Token, out, says.Token,
		strings.TrimSuffix(out, filepath.Ext(out))+filepath.Ext(media.Renamed("x", is.Token)), convert)}
}

// at is a path that a person gave, from the working folder.
func (a *app) at(path string) string {
	if a.dir != "" && !filepath.IsAbs(path) {
		return filepath.Join(a.dir, path)
	}
	return path
}

// mediaFile reads a file that a person named, as far as the limit of one media and a byte more.
func (a *app) mediaFile(name string) (media.Payload, error) {
	most := media.Limits{}.WithDefaults().Bytes
	r, base := a.in, "input"
	if name != "-" {
		f, err := os.Open(a.at(name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return media.Payload{}, &media.Error{Code: media.NotFound, Message: fmt.Sprintf("there is no file %q.", name)}
		case err != nil:
			return media.Payload{}, err
		}
		defer f.Close()
		if fi, err := f.Stat(); err == nil && fi.IsDir() {
			return media.Payload{}, usage{fmt.Errorf("media: %s is a folder; name a file", name)}
		}
		r, base = f, filepath.Base(name)
	}
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	return media.Payload{Data: data, Name: base}, err
}

func jsonText(v any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return b.String(), err
}
