package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// maxQuestion bounds what an agent gives a hook: a call with the content of a large file.
const maxQuestion = 64 << 20

func (a *app) hookCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "hook",
		Short: "Answer the permission hooks of other agents from this policy",
		Long: "Answer one question of another agent's hook: it reads the question on standard input and prints the answer, as the\n" +
			"agent's hooks do. It serves PreToolUse and PermissionRequest of Claude Code and Codex, and BeforeTool of Gemini CLI.\n" +
			"The workspace is the agent's project (CLAUDE_PROJECT_DIR), or the current folder. A question that cannot be read\n" +
			"blocks the call (exit status 2).",
		Example: `  {"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "tackle hook"}]}]}}`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, err := io.ReadAll(io.LimitReader(a.in, maxQuestion+1))
			if err == nil && len(in) > maxQuestion {
				err = fmt.Errorf("the question is longer than %d bytes", maxQuestion)
			}
			if err != nil {
				return blocked(a.err, err)
			}
			if dir := os.Getenv("CLAUDE_PROJECT_DIR"); a.dir == "" && dir != "" {
				a.dir = dir
			}
			box, err := a.open(cmd.Context())
			if err != nil {
				return blocked(a.err, err)
			}
			defer box.Close()
			reply := box.AnswerHook(cmd.Context(), in)
			fmt.Fprint(a.err, reply.Stderr)
			fmt.Fprint(a.out, reply.Stdout)
			if reply.Code != 0 {
				return exit(reply.Code)
			}
			return nil
		},
	}
}

// blocked says why no answer can be given, in the way that blocks the call.
func blocked(w io.Writer, err error) error {
	fmt.Fprintf(w, "tackle hook: %v; the call is blocked\n", err)
	return exit(2)
}
