import ArgumentParser
import Foundation

/// The command line of the simulator.
struct SimulatorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulator",
        abstract: "An App Store for one's fixture: signs notifications and posts them as Apple does.",
        discussion: """
            The signatures are made by an authority of its own, kept in --authority. A verifier that is to believe them \
            must trust the root.pem in that directory. Never give that file to a production verifier.

            Exit codes: 0 everything was accepted, or the run was stopped by a signal; 1 something was given up, or the \
            simulator itself failed; 64 the command line is wrong.
            """,
        subcommands: [
            RunCommand.self, ScenariosCommand.self, CoverageCommand.self, MakeCommand.self, SendCommand.self,
            OCSPCommand.self,
        ])
}

/// A command that does something, given what it may not fetch for itself.
protocol SimulatorWork: ParsableCommand {
    func run(in surroundings: Surroundings) async throws
}

/// The clock and the signals: handed down from main.
struct Surroundings: Sendable {
    var now: @Sendable () -> Date
    /// Turned on by SIGTERM and SIGINT.
    var stop: StopSwitch
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
