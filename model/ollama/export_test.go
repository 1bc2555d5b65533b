package ollama

import "github.com/tackle-dev/tackle/model/modeltest"

// Suite is for tests outside of this package.
func Suite() modeltest.Suite { return suite(true) }
