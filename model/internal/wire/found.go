package wire

import (
	"fmt"

	"github.com/tackle-dev/tackle/model"
)

// Refused is the error of a request that the service declined within a response that looks like an answer.
func (t *Transport) Refused(said string) *model.Error {
	return &model.Error{Provider: t.Provider, Class: model.Refused, Message: t.text(said) + t.next(model.Refused)}
}

// Failed is the error of an answer that broke off for a reason that need not come again.
func (t *Transport) Failed(said string) *model.Error {
	return &model.Error{Provider: t.Provider, Class: model.Retry, Message: t.text(said) + t.next(model.Retry)}
}

// Unsendable is the error of a request that cannot be written.
func (t *Transport) Unsendable(err error) *model.Error {
	return &model.Error{Provider: t.Provider, Class: model.Invalid, Cause: t.clean(err), Message: fmt.Sprintf("cannot write the request: %s", t.text(err.Error())) + t.next(model.Invalid)}
}
