package file

import "strings"

// patchesByHabit reports whether a model was trained to change files with patches (P3, first layer): OpenAI's since
// GPT-4.1 and their open-weight relatives, by the names under which providers serve them ("openai/gpt-5-codex").
func patchesByHabit(model string) bool {
	name := strings.ToLower(model)
	name = name[strings.LastIndexByte(name, '/')+1:]
	for _, family := range []string{"gpt-4.1", "gpt-5", "gpt-6", "gpt-oss", "codex", "o3", "o4"} {
		if strings.HasPrefix(name, family) || family == "codex" && strings.Contains(name, family) {
			return true
		}
	}
	return false
}

// editsByString is the rest: they replace strings and write whole files.
func editsByString(model string) bool { return !patchesByHabit(model) }
