import ArgumentParser
import Commands
import Foundation
import HTTPLimits

/// `storekeeper doctor`: what is missing between Apple and this deployment.
struct Doctor: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check the connection to Apple and say what is missing.",
        discussion: """
            Checks the file of apps, the root certificates, the API keys, the clocks, the URL that App Store Connect has, and \
            asks Apple for a test notification of each app and environment, which it follows to the ledger. Changes nothing. \
            Exit codes: 0 nothing is missing; 1 something is, with what to do.

            Examples:
              storekeeper doctor --url https://storekeeper.example.com/v1/notifications
              storekeeper doctor --no-test-notifications
            """)

    @OptionGroup var apple: AppleOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "URL that App Store Connect has for notifications; it is asked and nothing is sent to it.")
    var url: String?

    @Flag(inversion: .prefixedNo, help: "Ask Apple for test notifications.")
    var testNotifications = true

    @Option(help: "Timeout of each test notification in seconds.")
    var timeout = Seconds(60)

    func validate() throws {
        guard let url else { return }
        let parsed = URL(string: url)
        guard let scheme = parsed?.scheme, ["http", "https"].contains(scheme), parsed?.host?.isEmpty == false,
            parsed?.hasUsablePort == true
        else {
            throw ValidationError(
                "--url \(url.escaped) is no address like https://storekeeper.example.com/v1/notifications")
        }
    }

    func run(in context: CommandContext) async throws {
        let findings = try await SignalHandler.cancellingOnSignal {
            try await Examination(doctor: self, context: context).findings()
        }
        if output.json {
            try output.print(json: findings, in: context)
        } else {
            for finding in findings { finding.lines.forEach(context.print) }
        }
        let failed = findings.count { $0.outcome == .failed }
        guard failed == 0 else {
            throw CommandError(
                "\(failed) of \(findings.count) checks failed; do what is said below each, then run it again")
        }
    }
}
