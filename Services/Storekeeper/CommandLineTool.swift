import ArgumentParser

import struct Foundation.Date

/// What an operator and a developer do by hand.
struct CommandLineTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storekeeper",
        abstract: "Looks after the line that turns App Store notifications into state.",
        discussion: """
            Exit codes: 0 done, and what was asked is so; 1 it is not so, or the world failed; 64 the command line is \
            wrong; 78 the configuration is wrong (setup).
            """,
        subcommands: [Dev.self, Setup.self, Verify.self, Reread.self, Broker.self, Healthcheck.self])
}

/// A subcommand, given what it may not fetch for itself.
protocol Verb: ParsableCommand {
    func run(in surroundings: Surroundings) async throws
}

/// The clock and the place in the file system: handed down from main.
struct Surroundings: Sendable {
    /// The time of day.
    var now: @Sendable () -> Date
    /// A seed for a run that was given none.
    var seed: @Sendable () -> UInt64
    /// Path of the running program; its siblings are the services.
    var executable: String?
}

/// Something that cannot be done, said in one sentence with what to do about it.
struct Failure: Error, CustomStringConvertible, Equatable {
    var description: String

    init(_ description: String) { self.description = description }
}
