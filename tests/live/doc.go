// Package live holds no code, only tests: a small task for a real model, over the whole of tackle, the media tools included.
//
// `make live` runs it on the models that the environment names: TEST_OPENAI_MODEL with TEST_OPENAI_API_KEY and TEST_OPENAI_BASE_URL
// as they are needed, and the same for ANTHROPIC, GEMINI and OLLAMA (TEST_OLLAMA_HOST). Without one of them it says so and does not
// run. A scripted model does the task in every run of the tests, so that the judge is known to be right.
package live
