// Package console tries the pages of the server with a browser: Debian's chromium, driven by playwright-core from npm.
//
// The scenarios are in scenarios.mjs. Each runs in a browser of its own against a server of its own, which this package
// starts; they make calls, as an agent would, over a small control address. They wait for what they expect, never for time.
//
// TACKLE_NPM names the folder for programs from npm, TACKLE_CHROMIUM the browser (default: chromium on the PATH); without
// them the tests say so and do not run. `make console` sets them. TACKLE_SCREENSHOTS names a folder for pictures of the pages.
package console
