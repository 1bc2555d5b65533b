package outline

import "bytes"

// table returns the languages.
func table() []language {
	lang := func(name string, read func([]byte) []Symbol, types []string, exts ...string) language {
		return language{name: name, read: read, types: types, exts: exts}
	}
	one := func(t string) []string { return []string{t} }
	ruby := lang("ruby", readRuby, one("ruby"), ".rb", ".rake", ".gemspec")
	ruby.names = []string{"Rakefile", "Gemfile"}
	return []language{
		lang("c", readC, one("c"), ".c", ".h"),
		lang("c++", readBraces(cppGrammar()), one("cpp"), ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".inl"),
		lang("c#", readBraces(csharpGrammar()), one("csharp"), ".cs"),
		lang("dart", readBraces(dartGrammar()), one("dart"), ".dart"),
		lang("go", readGo, one("go"), ".go"),
		lang("java", readBraces(javaGrammar()), one("java"), ".java"),
		lang("javascript", readBraces(scriptGrammar()), one("js"), ".js", ".jsx", ".mjs", ".cjs"),
		lang("kotlin", readBraces(kotlinGrammar()), one("kotlin"), ".kt", ".kts"),
		lang("markdown", readMarkdown, one("md"), ".md", ".markdown", ".mdx"),
		lang("php", readBraces(phpGrammar()), one("php"), ".php"),
		lang("protobuf", readBraces(protoGrammar()), one("protobuf"), ".proto"),
		lang("python", readPython, one("py"), ".py", ".pyi"),
		ruby,
		lang("rust", readBraces(rustGrammar()), one("rust"), ".rs"),
		lang("scala", readBraces(scalaGrammar()), one("scala"), ".scala", ".sbt"),
		lang("shell", readShell, one("sh"), ".sh", ".bash"),
		lang("swift", readBraces(swiftGrammar()), one("swift"), ".swift"),
		lang("typescript", readBraces(scriptGrammar()), one("ts"), ".ts", ".tsx", ".mts", ".cts"),
	}
}

// readC reads C, or C++ where a header is that: their names do not say.
func readC(src []byte) []Symbol {
	for _, sign := range []string{"namespace ", "class ", "template <", "template<", "public:", "constexpr "} {
		for at := 0; ; {
			i := bytes.Index(src[at:], []byte(sign))
			if i < 0 {
				break
			}
			begin := blankBefore(src, at+i)
			if begin == 0 || src[begin-1] == '\n' {
				return readBraces(cppGrammar())(src)
			}
			at += i + len(sign)
		}
	}
	return readBraces(cGrammar())(src)
}

// control are the words before a parenthesis that no language has as names of functions.
const control = " if for while switch catch return sizeof do else try synchronized lock using fixed foreach elseif declare new throw assert await yield case in match guard when typeof defined static_assert _Static_assert "

func cGrammar() *grammar {
	return &grammar{
		lexis: lexis{directives: true, char: true}, cLike: true, cTypes: true, preproc: true, outer: true, control: control,
		kinds:     map[string]Kind{"struct": Struct, "union": Union, "enum": Enum},
		modifiers: " static extern inline const volatile register auto __inline __inline__ __always_inline noinline typedef restrict ",
		attrs:     " __attribute__ __declspec __attribute alignas _Alignas __aligned __printf __acquires __releases __must_hold ",
		opaque:    " struct union enum ",
	}
}

func cppGrammar() *grammar {
	g := cGrammar()
	g.rawParen, g.generics = true, true
	g.kinds = map[string]Kind{"struct": Struct, "union": Union, "enum": Enum, "class": Class, "namespace": Namespace, "concept": Type}
	g.modifiers += " virtual explicit constexpr consteval constinit friend mutable public private protected inline "
	g.attrs += " noexcept decltype throw requires explicit "
	g.aliases = " using "
	g.opaque = " enum "
	return g
}

func javaGrammar() *grammar {
	return &grammar{
		lexis: lexis{single: true, triple: true}, cLike: true, generics: true, control: control,
		kinds:     map[string]Kind{"class": Class, "interface": Interface, "enum": Enum, "record": Class},
		modifiers: " public private protected static final abstract native synchronized default strictfp transient volatile sealed non ",
		values:    map[string]Kind{"final": Constant},
		attrs:     " throws ",
	}
}

func csharpGrammar() *grammar {
	return &grammar{
		lexis: lexis{single: true, triple: true, verbatim: true, directives: true}, cLike: true, generics: true, props: true, control: control,
		kinds:     map[string]Kind{"class": Class, "struct": Struct, "interface": Interface, "enum": Enum, "record": Class, "namespace": Namespace},
		modifiers: " public private protected internal static readonly sealed abstract virtual override async extern unsafe partial new volatile ref file required delegate event ",
		values:    map[string]Kind{"const": Constant},
	}
}

func dartGrammar() *grammar {
	return &grammar{
		lexis: lexis{single: true, triple: true, tripleOne: true, dollar: true}, cLike: true, bare: true, generics: true, control: control,
		kinds:     map[string]Kind{"class": Class, "mixin": Class, "enum": Enum, "extension": Extension},
		modifiers: " static final const abstract external factory late covariant async sync base sealed interface get set ",
		values:    map[string]Kind{"const": Constant, "final": Variable},
		aliases:   " typedef ",
	}
}

// scriptGrammar is that of JavaScript and TypeScript: the words that only one of them has are no names in the other.
func scriptGrammar() *grammar {
	return &grammar{
		lexis: lexis{single: true, backtick: true, regex: true, dollarName: true}, bare: true, lineEnds: true, generics: true, arrows: true, control: control,
		kinds:     map[string]Kind{"class": Class, "interface": Interface, "enum": Enum, "namespace": Namespace, "module": Namespace},
		funcs:     " function ",
		modifiers: " export default declare abstract async static public private protected readonly override get set const let var accessor ",
		values:    map[string]Kind{"const": Constant, "let": Variable, "var": Variable},
		aliases:   " type ",
	}
}

func kotlinGrammar() *grammar {
	return &grammar{
		lexis: lexis{single: true, triple: true, nested: true, dollar: true, quotedName: true}, lineEnds: true, generics: true, control: control,
		kinds:     map[string]Kind{"class": Class, "interface": Interface, "object": Object, "enum": Enum},
		funcs:     " fun constructor init ",
		modifiers: " public private protected internal open abstract final sealed data inner inline suspend operator infix override const lateinit companion value annotation external tailrec expect actual enum ",
		values:    map[string]Kind{"val": Constant, "var": Variable},
		aliases:   " typealias ",
	}
}

func swiftGrammar() *grammar {
	return &grammar{
		lexis: lexis{triple: true, nested: true, slashParen: true, quotedName: true}, lineEnds: true, generics: true, control: control,
		kinds:     map[string]Kind{"class": Class, "struct": Struct, "enum": Enum, "protocol": Interface, "extension": Extension, "actor": Class},
		funcs:     " func init deinit subscript ",
		modifiers: " public private internal fileprivate open static final override mutating nonmutating convenience required lazy weak unowned indirect async nonisolated ",
		values:    map[string]Kind{"let": Constant, "var": Variable},
		aliases:   " typealias ",
	}
}

func scalaGrammar() *grammar {
	return &grammar{
		lexis: lexis{char: true, triple: true, nested: true, quotedName: true}, lineEnds: true, control: control,
		kinds:     map[string]Kind{"class": Class, "trait": Trait, "object": Object, "enum": Enum},
		funcs:     " def ",
		modifiers: " private protected final sealed abstract implicit lazy override case inline given ",
		values:    map[string]Kind{"val": Constant, "var": Variable},
		aliases:   " type ",
	}
}

func rustGrammar() *grammar {
	return &grammar{
		lexis: lexis{char: true, nested: true, rawHash: true, hashAttr: true}, generics: true, control: control,
		kinds:     map[string]Kind{"struct": Struct, "enum": Enum, "union": Union, "trait": Trait, "mod": Module, "impl": Impl},
		funcs:     " fn macro_rules ",
		modifiers: " pub async unsafe const extern default ",
		values:    map[string]Kind{"const": Constant, "static": Variable},
		aliases:   " type ",
		attrs:     " pub ",
		opaque:    " struct enum union ",
	}
}

func phpGrammar() *grammar {
	return &grammar{
		lexis: lexis{hash: true, hashAttr: true, single: true, heredoc: true, dollarName: true, tags: true}, control: control,
		kinds:     map[string]Kind{"class": Class, "interface": Interface, "trait": Trait, "enum": Enum, "namespace": Namespace},
		funcs:     " function ",
		modifiers: " public private protected static final abstract readonly ",
		values:    map[string]Kind{"const": Constant},
	}
}

func protoGrammar() *grammar {
	return &grammar{
		lexis: lexis{single: true}, control: control,
		kinds:  map[string]Kind{"message": Struct, "enum": Enum, "service": Interface, "extend": Extension},
		funcs:  " rpc ",
		opaque: " enum ",
	}
}
