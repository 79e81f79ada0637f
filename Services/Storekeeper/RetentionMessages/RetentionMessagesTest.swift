import AppStore
import ArgumentParser
import Commands
import Operations

/// `storekeeper retention-messages performance-test`: lets Apple try the realtime URL.
struct RetentionMessagesTest: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "performance-test", abstract: "Begin a performance test, or show its result.",
        discussion: """
            Apple sends requests to the realtime URL of the sandbox for some minutes. Prints Apple's JSON: the \
            requestId of a test that began; of a result, PENDING, PASS or FAIL, the successRate in percent, response \
            times in milliseconds, and how often each failure came. Exit codes: 0 begun, or pending or passed; 1 \
            failed, refused by Apple (such as without a realtime URL), or no answer.

            Examples:
              storekeeper retention-messages performance-test --purchase 2000000123456789 --environment Sandbox
              storekeeper retention-messages performance-test --result 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0
            """)

    @OptionGroup var options: AppleChangeOptions

    @Option(help: "Original transaction id of a sandbox subscription: begins a test.")
    var purchase: String?

    @Option(help: "The requestId that a test had when it began: shows its result.")
    var result: String?

    func validate() throws {
        guard (purchase == nil) != (result == nil) else {
            throw ValidationError("give either --purchase or --result")
        }
    }

    func run(in context: CommandContext) async throws {
        let test =
            if let purchase {
                try await options.change("retention-messages performance-test", purchase, in: context) {
                    try await $0.startPerformanceTest(of: purchase)
                }
            } else {
                try await options.apple.withClient(in: context) { try await $0.performanceTest(result ?? "") }
            }
        context.print(PrettyJSON(test.json)?.text ?? "")
        if test.result == "FAIL" { throw Exit.failed.code }
    }
}
