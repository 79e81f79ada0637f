import ArgumentParser
import Commands
import Foundation
import Postgres
import Synchronization

@testable import Storekeeper

/// What a command printed and how it ended, run in this process with a clock of the test's.
struct CommandOutcome: Sendable {
    var code: Int32
    /// Standard output.
    var text: String
    /// Standard error, what the command threw included.
    var errorOutput: String

    static let now = Date(timeIntervalSince1970: 1_760_000_000)

    /// Parses and runs as main does.
    /// - Parameter printing: told of each line of standard output.
    static func of(
        _ arguments: [String], environment: [String: String] = [:], now: Date = Self.now,
        unmoved: @escaping @Sendable () -> Date = { Date() },
        confirm: (@Sendable (String) async -> Bool)? = nil, printing: @escaping @Sendable (String) -> Void = { _ in }
    ) async -> CommandOutcome {
        let output = Mutex<[String]>([])
        let complaints = Mutex<[String]>([])
        var code: Int32 = 0
        var running: (any Subcommand.Type)?
        do {
            var command = try CommandLineTool.parseAsRoot(arguments)
            guard let verb = command as? any Subcommand else {
                try command.run()
                return CommandOutcome(code: 0, text: "", errorOutput: "")
            }
            running = type(of: verb)
            var context = CommandContext(
                now: { now }, seed: { 1 }, id: { UUID() }, executable: nil, environment: environment,
                user: "olga",
                print: { line in
                    output.withLock { $0.append(line) }
                    printing(line)
                },
                warn: { line in complaints.withLock { $0.append(line) } }, confirm: confirm)
            context.unmoved = unmoved
            try await verb.run(in: context)
        } catch {
            code = Exit.code(for: error)
            let errorOutput =
                ErrorPresentation(error, of: running, in: CommandLineTool.self)?.text
                ?? CommandLineTool.fullMessage(for: error)
            complaints.withLock { $0.append(errorOutput) }
        }
        return CommandOutcome(
            code: code, text: output.withLock { $0.joined(separator: "\n") },
            errorOutput: complaints.withLock { $0.joined(separator: "\n") })
    }

    /// The text as a JSON object or array.
    func json<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }
}

extension PostgresConfiguration {
    /// As an operator would say it.
    var environment: [String: String] { ["DATABASE_URL": url] }

    /// Runs a command on it.
    func run(_ arguments: [String]) async -> CommandOutcome {
        await CommandOutcome.of(arguments, environment: environment)
    }
}
