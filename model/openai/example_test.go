package openai_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/openai"
	"github.com/tackle-dev/tackle/tests/clients/fakemodel"
)

func Example() {
	local := httptest.NewServer(&fakemodel.Model{}) // a server of one's own that speaks chat completions
	defer local.Close()

	m, err := openai.New(openai.Options{Model: "some-model", Provider: "local", BaseURL: local.URL + "/v1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	req := model.Request{Messages: []model.Message{{Role: model.User, Blocks: []model.Block{model.Text("Say hello.")}}}}
	answer, err := m.Stream(context.Background(), req, func(p model.Piece) error {
		fmt.Println(p.Text)
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Stop)
	// Output:
	// FINAL: no matching tool was offered
	// end
}
