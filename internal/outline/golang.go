package outline

import (
	"go/ast"
	"go/parser"
	"go/token"
)

// readGo reads Go by its own parser, which gives what it has also of a file with errors.
func readGo(src []byte) []Symbol {
	fset := token.NewFileSet()
	f, _ := parser.ParseFile(fset, "", src, parser.SkipObjectResolution) // an error leaves a part of the tree
	if f == nil {
		return nil
	}
	g := &goReader{src: src, file: fset.File(f.FileStart)}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			g.function(d)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				g.spec(d, s)
			}
		}
	}
	return g.out
}

type goReader struct {
	src  []byte
	file *token.File
	out  []Symbol
}

func (g *goReader) add(s Symbol, from, to, text token.Pos) {
	s.Line, s.End = g.file.Line(from), g.file.Line(to)
	lo, hi := g.file.Offset(from), g.file.Offset(text)
	if hi = min(hi, len(g.src)); lo < hi {
		s.Text = oneLine(g.src[lo:hi])
	}
	if s.Name != "" && s.Name != "_" {
		g.out = append(g.out, s)
	}
}

func (g *goReader) function(d *ast.FuncDecl) {
	s := Symbol{Name: d.Name.Name, Kind: Function}
	if d.Recv != nil && len(d.Recv.List) > 0 {
		s.Kind, s.Container = Method, receiver(d.Recv.List[0].Type)
	}
	head := d.Type.End()
	g.add(s, d.Pos(), d.End(), head)
}

// receiver returns the name of a receiver's type.
func receiver(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// spec adds what one line of a declaration group declares.
func (g *goReader) spec(d *ast.GenDecl, spec ast.Spec) {
	from := spec.Pos()
	if !d.Lparen.IsValid() {
		from = d.Pos() // "type" and the like belong to it
	}
	switch s := spec.(type) {
	case *ast.TypeSpec:
		kind, text := Type, s.End()
		switch t := s.Type.(type) {
		case *ast.StructType:
			kind, text = Struct, t.Fields.Opening
		case *ast.InterfaceType:
			kind, text = Interface, t.Methods.Opening
			g.add(Symbol{Name: s.Name.Name, Kind: kind}, from, s.End(), text)
			g.methods(s.Name.Name, t)
			return
		}
		g.add(Symbol{Name: s.Name.Name, Kind: kind}, from, s.End(), text)
	case *ast.ValueSpec:
		kind := Variable
		if d.Tok == token.CONST {
			kind = Constant
		}
		text := s.End()
		if len(s.Values) > 0 && g.file.Line(s.Values[0].Pos()) != g.file.Line(s.End()) {
			text = s.Values[0].Pos()
		}
		for _, n := range s.Names {
			g.add(Symbol{Name: n.Name, Kind: kind}, from, s.End(), text)
		}
	}
}

func (g *goReader) methods(name string, t *ast.InterfaceType) {
	for _, m := range t.Methods.List {
		if _, ok := m.Type.(*ast.FuncType); !ok {
			continue
		}
		for _, n := range m.Names {
			g.add(Symbol{Name: n.Name, Kind: Method, Container: name, Depth: 1}, m.Pos(), m.End(), m.End())
		}
	}
}
