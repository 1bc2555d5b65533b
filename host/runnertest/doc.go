// Package runnertest is the suite that every implementation of host.Runner joins: what a tool may rely on wherever it
// runs commands.
//
//	func TestRunner(t *testing.T) {
//		runnertest.Run(t, func(t *testing.T) host.Runner { … })
//	}
//
// Whether a tree has really ended is not asked of the runner. Each scenario gives its commands the writing end of a FIFO,
// which every process of the tree inherits; the kernel then tells when the last one is gone. So the scenarios need bash and
// the usual tools, and a directory that the test process and the commands share under the same path.
package runnertest
