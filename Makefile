# tackle: gear for agents. `make run` serves a sample project with its console, `make test` proves everything;
# both install what they need. Everything else is a part of these two.

SHELL   := /bin/bash
GO      ?= go
BIN     := bin/tackle
SHARED  ?= ../shared
FUZZ    ?= 10s
NPM     ?= $(CURDIR)/.npm
CLIENTS ?=
ROOT    ?= examples/sample
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

.PHONY: run build test check unit race vet fuzz suites oracles engines wires clients console screenshots kill live bench deps golden clean

run: deps build ## console, API and MCP over a scratch copy of ROOT (default: a sample project), after saying how to connect
	@dir=$$(mktemp -d) && cp -R '$(ROOT)' "$$dir/project" && $(BIN) serve -C "$$dir/project" --state "$$dir/state"; code=$$?; \
	echo "The scratch copy is in $$dir"; exit $$code

build: ## bin/tackle
	@$(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o $(BIN) ./cmd/tackle

test: deps vet race suites oracles engines wires fuzz clients console ## everything that CI runs

check: vet unit ## format, vet, staticcheck, import rules, unit tests: under three minutes

vet:
	@bad=$$(gofmt -l $$(git ls-files --cached --others --exclude-standard '*.go')); test -z "$$bad" || { echo "gofmt would change: $$bad"; exit 1; }
	@$(GO) vet ./...
	@for os in linux darwin windows; do GOOS=$$os $(GO) vet ./cmd/tackle ./host/... ./tool/... ./toolbox/... . || exit 1; done
	@$(GO) tool staticcheck ./...

# Some packages wait for commands more than they compute, so twice as many run as there are processors.
unit:
	@$(GO) test -p $$((2 * $$(nproc))) ./...

# Three run without the detector, which makes them four times slower: the scripts of the command (its other tests run under
# it), the import rules, and documents that other programs judge.
RACELESS := ./cmd/tackle ./internal/house ./tests/media

race: ## the race detector over all but RACELESS, which runs without it; the patch oracles with as many cases as CI wants, and no oracle missing
	@PATCH_ORACLE_CASES=2000 TACKLE_ORACLES=1 $(GO) test -race -timeout 20m -skip '^TestScripts$$' $$($(GO) list ./... | grep -vE '/(internal/house|tests/media)$$')
	@TACKLE_ORACLES=1 $(GO) test -timeout 20m $(RACELESS)

suites: ## the test data of other projects, where SHARED holds it
	@if test -d '$(SHARED)/suites'; then \
		export TACKLE_SHARED="$$(cd '$(SHARED)' && pwd)"; \
		$(GO) test -count=1 -v -run 'HaveTests|AreAllThere|FollowTheDocuments' ./tests/attacks ./tests/seeds | grep -v -e '^=== '; test $${PIPESTATUS[0]} -eq 0 && \
		$(GO) test -count=1 -v ./tests/suites ./glob | grep -v -e '^=== ' -e '^    --- PASS' ; test $${PIPESTATUS[0]} -eq 0; \
	else echo 'suites: $(SHARED)/suites is not here, so the suites of other projects do not run'; fi

RG    := $(NPM)/rg/node_modules/@vscode/ripgrep-linux-x64/bin/rg
TREES := $(shell $(GO) env GOROOT)/src/net:$(shell $(GO) env GOROOT)/src/cmd/go

# A module with 511 PDF files as samples (287 MB); it is read, not linked.
PDFS := github.com/pdfcpu/pdfcpu@v0.15.0

oracles: $(RG) ## 2,000 random queries give exactly ripgrep's files and lines; 511 PDF files the words of pdftotext
	@TACKLE_RG='$(RG)' TACKLE_TREES='$(TREES)' TACKLE_QUERIES=2000 $(GO) test -count=1 -timeout 15m -v -run F7_Ripgrep ./search | grep -v '^=== '; test $${PIPESTATUS[0]} -eq 0
	@pdfs=$$(cd / && $(GO) mod download -json $(PDFS) | sed -n 's/.*"Dir": "\(.*\)".*/\1/p') && TACKLE_PDFS="$$pdfs" \
		$(GO) test -count=1 -timeout 30m -v -run Oracle ./media/engine/pdf | grep -v '^=== '; test $${PIPESTATUS[0]} -eq 0

$(RG):
	@mkdir -p '$(NPM)/rg' && cd '$(NPM)/rg' && echo '{"private":true}' > package.json && \
		npm install --no-audit --no-fund --loglevel=error --save-exact @vscode/ripgrep-linux-x64@1.18.0

engines: ## Biome and TypeScript from npm, and the go command, on real code
	@TACKLE_NPM='$(NPM)' $(GO) test -count=1 -timeout 15m -v -run Real ./dev/engine/program | grep -v -e '^=== ' ; test $${PIPESTATUS[0]} -eq 0

wires: ## the clients of Google and Ollama read what the adapters' fakes stream, and write what the adapters write
	@cd tests/wires && $(GO) vet ./... && $(GO) test -count=1 ./...

fuzz: ## every fuzz target for FUZZ
	@scripts/fuzz.sh $(FUZZ)

clients: build ## real MCP clients and the protocol's conformance runner, from npm, against bin/tackle
	@TACKLE='$(CURDIR)/$(BIN)' TACKLE_NPM='$(NPM)' TACKLE_CLIENTS='$(CLIENTS)' $(GO) test -count=1 -timeout 30m -v ./tests/clients ./tests/conformance \
		| grep -v -e '^=== ' -e '^    --- PASS'; test $${PIPESTATUS[0]} -eq 0

console: ## what a person does in the console, in Debian's chromium
	@scripts/deps.sh browser
	@TACKLE_NPM='$(NPM)' $(GO) test -count=1 -timeout 20m -v -run InABrowser ./tests/console | grep -v '^=== '; test $${PIPESTATUS[0]} -eq 0

# The pictures of the README, of all that are drawn.
PICTURES := asks-1280-light asks-1280-dark asks-360-light asks-360-dark now-1280-light now-1280-dark session-360-light session-360-dark \
	call-1280-light call-1280-dark usage-1280-light usage-1280-dark usage-360-light usage-360-dark

screenshots: ## the console's pages, light and dark, 360 and 1280 wide, into .screenshots; the README's into docs/images
	@scripts/deps.sh browser
	@TACKLE_NPM='$(NPM)' TACKLE_SCREENSHOTS='$(CURDIR)/.screenshots' $(GO) test -count=1 -timeout 20m -run Screenshots ./tests/console
	@mkdir -p docs/images && for p in $(PICTURES); do pngquant --force --strip --skip-if-larger --quality 70-95 --output docs/images/$$p.png .screenshots/$$p.png || exit 1; done
	@echo "Look at each: .screenshots/*.png and docs/images/*.png"

bench: ## benchmarks of the packages, and whole processes beside their peers
	@$(GO) test -run '^$$' -bench . -benchmem ./...

deps:
	@scripts/deps.sh

live: ## a small task for the real models that TEST_OPENAI_MODEL, TEST_ANTHROPIC_MODEL, TEST_GEMINI_MODEL or TEST_OLLAMA_MODEL name
	@$(GO) test -count=1 -timeout 60m -v -run '^TestLive$$' ./tests/live | grep -v '^=== '; test $${PIPESTATUS[0]} -eq 0

golden: ## rewrite golden files from what the code does now; read the diff before you commit it
	@$(GO) test ./... -update

clean:
	@rm -rf bin dist .bench .npm .screenshots
