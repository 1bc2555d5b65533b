package command

import (
	"strconv"
	"strings"
)

// A check looks at what a grammar cannot say. It returns why the command is refused, or "".
type check struct {
	raw  bool // there is no grammar of options: the check reads all arguments
	look func(args []string, d *decoding) string
}

// checks returns the check of a name, or nil.
func checks(name string) *check {
	raw := func(f func([]string) string) *check {
		return &check{raw: true, look: func(args []string, _ *decoding) string { return f(args) }}
	}
	switch name {
	case "any", "echo":
		return raw(func([]string) string { return "" })
	case "printf":
		return raw(checkPrintf)
	case "test":
		return raw(checkTest)
	case "command":
		return raw(checkCommand)
	case "find":
		return raw(checkFind)
	case "date":
		return &check{look: checkDate}
	case "strings":
		return &check{look: checkStrings}
	case "tail":
		return &check{look: checkTail}
	case "seq":
		return &check{look: checkSeq}
	case "cd":
		return &check{look: checkCd}
	case "sed":
		return &check{look: checkSed}
	case "jq":
		return &check{look: checkJq}
	}
	return nil
}

func checkPrintf(args []string) string {
	if len(args) > 0 && (strings.HasPrefix(args[0], "-") || !printfFormat(args)) {
		return "a format that may set a variable"
	}
	return ""
}

// printfFormat reports whether the conversions of the format only print. "%n" stores a number in the variable that the
// argument names.
func printfFormat(args []string) bool {
	format := args[0]
	if format == "--" {
		if len(args) < 2 {
			return true
		}
		format = args[1]
	}
	for {
		_, rest, ok := strings.Cut(format, "%")
		if !ok {
			return true
		}
		rest = strings.TrimLeft(rest, "#-+ 0'123456789.*hljzLt")
		if strings.HasPrefix(rest, "(") {
			_, rest, _ = strings.Cut(rest, ")")
		}
		if rest == "" {
			return true
		}
		if !strings.Contains("diouxXeEfFgGaAcsbqQT%", rest[:1]) {
			return false
		}
		format = rest[1:]
	}
}

// checkTest reads the arguments of test. The operators that evaluate the name of a variable are refused, and numbers must
// be numbers, because an older shell evaluates them as expressions.
func checkTest(args []string) string {
	for i, a := range args {
		switch a {
		case "-v", "-R":
			return a + " evaluates a subscript"
		case "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-t":
			for _, k := range [...]int{i - 1, i + 1} {
				if k < 0 || k >= len(args) || a == "-t" && k < i {
					continue
				}
				if _, err := strconv.Atoi(args[k]); err != nil {
					return a + " with something that is no number"
				}
			}
		}
	}
	return ""
}

func checkCommand(args []string) string {
	if len(args) > 1 && (args[0] == "-v" || args[0] == "-V") && !strings.HasPrefix(args[1], "-") {
		return ""
	}
	return "it runs its operand"
}

func checkDate(args []string, d *decoding) string {
	for _, k := range d.operands {
		if !strings.HasPrefix(args[k], "+") {
			return "an operand that is no format sets the clock"
		}
	}
	return ""
}

func checkStrings(args []string, d *decoding) string {
	for _, a := range args {
		if strings.HasPrefix(a, "@") {
			return "options from a file"
		}
	}
	return ""
}

// checkTail refuses what tail may take for an option of old: "+5f" follows the file.
func checkTail(args []string, d *decoding) string {
	for _, k := range d.operands {
		if strings.HasPrefix(args[k], "+") {
			return "an operand that may be an option: " + args[k]
		}
	}
	return ""
}

// checkSeq takes numbers that can be counted to.
func checkSeq(args []string, d *decoding) string {
	for _, k := range d.operands {
		if n := strings.TrimLeft(args[k], "+-"); len(n) > 9 || strings.Trim(n, "0123456789.") != "" {
			return "a number that is not plain: " + args[k]
		}
	}
	return ""
}

func checkCd(args []string, d *decoding) string {
	if len(d.operands) != 1 || args[d.operands[0]] == "" || args[d.operands[0]] == "-" {
		return "it needs a folder"
	}
	return ""
}

// findPredicates are the parts of an expression of find that only look, and the number of their arguments. In front of an
// expression -H, -L, -P and -O stand as well.
var findPredicates = func() map[string]int {
	m := map[string]int{}
	for word := range strings.FieldsSeq(`
		( ) ! , -a -and -o -or -not -true -false
		-H -L -P -O0 -O1 -O2 -O3
		-name= -iname= -path= -ipath= -wholename= -iwholename= -lname= -ilname= -regex= -iregex= -regextype=
		-type= -xtype= -maxdepth= -mindepth= -depth -size= -empty -mtime= -mmin= -atime= -amin= -ctime= -cmin= -used=
		-newer= -anewer= -cnewer= -user= -group= -uid= -gid= -nouser -nogroup -perm= -links= -inum= -samefile= -fstype=
		-readable -writable -executable -xdev -mount -daystart -follow -noleaf -ignore_readdir_race
		-noignore_readdir_race -warn -nowarn -print -print0 -printf= -ls -prune -quit`) {
		name, takes := strings.CutSuffix(word, "=")
		m[name] = 0
		if takes {
			m[name] = 1
		}
	}
	return m
}()

// checkFind refuses every predicate that is not on the list.
func checkFind(args []string) string {
	expression := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		n, ok := findPredicates[a]
		switch {
		case ok:
		case len(a) == len("-newerXY") && strings.HasPrefix(a, "-newer") && strings.Contains("aBcm", a[6:7]) && strings.Contains("aBcmt", a[7:]):
			n = 1
		case strings.HasPrefix(a, "-") || expression:
			return "predicate " + a
		}
		if expression = expression || ok && !findLeading(a) || n > 0; n > 0 {
			if i += n; i >= len(args) {
				return a + " without its argument"
			}
		}
	}
	return ""
}

// findLeading reports the options that stand in front of the folders.
func findLeading(a string) bool {
	return a == "-H" || a == "-L" || a == "-P" || strings.HasPrefix(a, "-O")
}

// findStarts returns the folders that find looks into.
func findStarts(args []string) []string {
	var out []string
	for _, a := range args {
		if findLeading(a) {
			continue
		}
		if _, ok := findPredicates[a]; ok || strings.HasPrefix(a, "-") {
			break
		}
		out = append(out, a)
	}
	return out
}
