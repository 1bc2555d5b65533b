package edit_test

import "testing"

func TestF3_Indentation(t *testing.T) {
	run(t, []row{
		{"deeper in the file", "class A:\n    def f():\n        return 1\n", req("def f():\n    return 1", "def f():\n    x = 2\n    return x"),
			"indentation", "class A:\n    def f():\n        x = 2\n        return x\n"},
		{"less deep in the file", "if a:\n    b\n", req("    if a:\n        b", "    if c:\n        b\n    else:\n        d"), "indentation", "if c:\n    b\nelse:\n    d\n"},
		{"by a tab", "{\n\tif a {\n\t\tb\n\t}\n}\n", req("if a {\n\tb\n}", "if a {\n\tc\n}"), "indentation", "{\n\tif a {\n\t\tc\n\t}\n}\n"},
		{"blanks for tabs", "{\n\tif a {\n\t\tb\n\t}\n}\n", req("    if a {\n        b\n    }", "    if a {\n        b\n        if c {\n            d\n        }\n    }"),
			"indentation", "{\n\tif a {\n\t\tb\n\t\tif c {\n\t\t\td\n\t\t}\n\t}\n}\n"},
		{"blanks for tabs, one line", "{\n\tfoo()\n}\n", req("  foo()", "  if a {\n    foo()\n  }"), "indentation", "{\n\tif a {\n\t\tfoo()\n\t}\n}\n"},
		{"blanks for tabs and another depth", "\t\t\tfoo()\n\t\t\t\tbar()\n", req("    foo()\n        bar()", "    foo()\n        baz()"), "indentation", "\t\t\tfoo()\n\t\t\t\tbaz()\n"},
		{"one line on another depth, step from new", "\t\tfoo()\n", req("    foo()", "    if x {\n        foo()\n    }"), "indentation", "\t\tif x {\n\t\t\tfoo()\n\t\t}\n"},
		{"blanks in the file, tabs in old", "a {\n  b {\n    c\n  }\n}\n", req("\tb {\n\t\tc\n\t}", "\tb {\n\t\tc\n\t\td\n\t}"), "indentation", "a {\n  b {\n    c\n    d\n  }\n}\n"},
		{"blanks in the file, tabs in old, one line", "a {\n    b\n}\nc {\n    d {\n        e\n    }\n}\n", req("\t\te", "\t\tif x {\n\t\t\te\n\t\t}"),
			"indentation", "a {\n    b\n}\nc {\n    d {\n        if x {\n            e\n        }\n    }\n}\n"},
		{"alignment behind tabs", "\tcall(a,\n\t     b)\n", req("    call(a,\n         b)", "    call(a,\n         c)"), "indentation", "\tcall(a,\n\t     c)\n"},
		{"first line begins inside", "\tif a {\n\t\tb()\n\t}\n", req("if a {\n        b()\n    }", "if a {\n\t\tc()\n\t}"), "indentation", "\tif a {\n\t\tc()\n\t}\n"},
		{"deeper new lines in another style", "\tfoo()\n", req("  foo()\n", "  if x {\n    foo()\n  }\n"), "indentation", "\tif x {\n\t\tfoo()\n\t}\n"},
		{"no indentation, deeper new lines in blanks", "x\n\tfoo(1)\n\ty\n", req("foo(1)\ny", "if a {\n    foo(2)\n}\ny"), "indentation", "x\n\tif a {\n\t\tfoo(2)\n\t}\n\ty\n"},
		{"no indentation, deeper new lines in tabs", "x {\n  foo(1)\n  y\n}\n", req("foo(1)\ny", "if a {\n\tfoo(2)\n}\ny"), "indentation", "x {\n  if a {\n    foo(2)\n  }\n  y\n}\n"},
		{"blank lines do not count", "  a\n\n  b\n", req("a\n  \nb", "a\n\nc"), "indentation", "  a\n\n  c\n"},
		{"kept lines keep their bytes", "\ta = 1  \n\tb = 2\n", req("a = 1\nb = 2", "a = 1\nb = 3"), "indentation", "\ta = 1  \n\tb = 3\n"},
		{"final newline", "  a\n  b\n  c\n", req("a\nb\n", "x\n"), "indentation", "  x\n  c\n"},
		{"missing final newline", "  a\n  b", req("a\nb\n", "a\nc\n"), "indentation", "  a\n  c"},
		{"deletion", "  a\n  b\n  c\n", req("a\nb\n", ""), "indentation", "  c\n"},
		{"all, each with its own shift", "  foo(1)\n    foo(1)\n", all("foo(1)\n", "bar(1)\n"), "exact", "  bar(1)\n    bar(1)\n"},
		{"all, lines", "  a\n  b\n\ta\n\tb\n", all("a\nb", "a\nx"), "indentation", "  a\n  x\n\ta\n\tx\n"},
		{"crlf", "\ta\r\n\tb\r\n", req("a\nb\n", "a\nx\ny\n"), "indentation", "\ta\r\n\tx\r\n\ty\r\n"},
		{"unwrapped", "\tif a {\n\t\tb(1)\n\t}\n", req("if a {\n\tb(1)\n}", "\tb(1)"), "indentation", "\t\tb(1)\n"},

		{"uneven", "  a1\n    b1\n", req("a1\nb1", "x"), "not found", ""},
		{"white space inside counts", "  a  = 1\n  b\n", req("a = 1\nb", "x"), "not found", ""},
		{"letter case counts", "  Foo\n", req("    foo", "    x"), "not found", ""},
		{"equal lines at two depths", "  a\n  b\n    a\n    b\n", req("a\nb", "x"), "ambiguous", "[1 3]"},
		{"new begins deeper than old", "    a1\n    b1\n", req("a1\nb1", "    x\n    y"), "unclear", ""},
		{"new begins less deep than old", "  a1\n  b1\n", req("      a1\n      b1", "  x"), "unclear", ""},
		{"new leaves the margin", "a1\n  b1\n", req("    a1\n      b1", "    a1\n  c"), "unclear", ""},
		{"a lone brace is not moved about", "f {\n  }\n", req("    }", "    };"), "not found", ""},
		{"piece of a line", "\tfoo(bar)\n", req("  foo(", "  baz("), "not found", ""},
	})
}
