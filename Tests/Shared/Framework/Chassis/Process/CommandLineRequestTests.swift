import Testing

@testable import Chassis

@Suite struct CommandLineRequestTests {
    @Test func `CommandLineRequest takes at most one argument, and none means run`() {
        #expect(CommandLineRequest([]) == .run)
        #expect(CommandLineRequest(["--help"]) == .help)
        #expect(CommandLineRequest(["-h"]) == .help)
        #expect(CommandLineRequest(["--version"]) == .version)
        #expect(CommandLineRequest(["--config"]) == .configuration)
    }

    @Test func `CommandLineRequest takes a service's own flag`() {
        #expect(CommandLineRequest(["--check"], flags: ["--check": "compare"]) == .flag("--check"))
        #expect(CommandLineRequest(["--check"]) != .flag("--check"))
    }

    @Test(arguments: [["--port"], ["help"], [""], ["--help", "--version"]])
    func `CommandLineRequest rejects anything else and points to the help`(arguments: [String]) {
        guard case .misunderstood(let sentence) = CommandLineRequest(arguments) else {
            Issue.record("\(arguments) was understood")
            return
        }
        #expect(sentence.hasSuffix("see --help."))
    }
}
