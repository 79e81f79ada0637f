import ArgumentParser
import Foundation

/// The command line of the simulator.
package struct SimulatorCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "simulator",
        abstract: "Simulate the App Store: sign notifications and post them as Apple does.",
        discussion: """
            Signs with a certificate authority of its own, kept in --authority. A test verifier must trust root.pem of that \
            directory; never give that file to a production verifier.

            Examples:
              simulator run --target http://127.0.0.1:8080/v1/notifications --authority authority --count 1000
              simulator run --target http://127.0.0.1:8080/v1/notifications --authority authority --scenario win-back
              simulator buy premium.monthly --account 7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b
              simulator clock advance 31d
              simulator scenarios
              simulator make --case refunded --authority authority

            Exit codes: 0 every notification was accepted, or a signal stopped the run; 1 retries of a notification were \
            exhausted, or the simulator failed; 64 invalid command line.
            """,
        subcommands: [
            RunCommand.self, BuyCommand.self, TriggerCommand.self, PurchasesCommand.self, ProductsCommand.self,
            ClockCommand.self, ExportCommand.self, ScenariosCommand.self, CoverageCommand.self, MakeCommand.self,
            SendCommand.self,
            OCSPCommand.self,
        ])

    package init() {}
}

extension Target {
    /// - Throws: `ValidationError` unless it is an absolute HTTP address.
    static func validate(_ address: String, as option: String) throws {
        let url = URL(string: address)
        guard let scheme = url?.scheme, ["http", "https"].contains(scheme), url?.host?.isEmpty == false else {
            throw ValidationError("\(option) must be an address like http://127.0.0.1:8080/path, not \(address)")
        }
    }
}
