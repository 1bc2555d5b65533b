// Package imports reads the permission rules of other agents into those of package permission: Claude Code's settings,
// Codex's execution policies, Gemini CLI's policy files and opencode's configuration.
//
// The one idea: an import may only tighten. A rule that permits is taken over where ours covers no more than theirs, and
// left out with a [Finding] otherwise; a rule that restricts is taken over where ours covers no less, and becomes an ask
// for the whole permission where it cannot be expressed. A file that cannot be read is an error and gives no rule at all.
//
// The rules of a result belong into one layer, in their order: the last that matches wins there, and each import orders
// its rules so that this decides as its agent would. What the agents allow when no rule matches is not imported; here the
// posture decides.
//
// All functions are pure. The formats are those that the agents document (November 2026); what they do beyond that is not
// followed.
package imports
