import ArgumentParser

import struct Foundation.Date

/// A command with work to do, which gets the clock and the signals as arguments.
package protocol SimulatorWork: ParsableCommand {
    func run(in context: CommandContext) async throws
}

/// The clock, the signals and the environment, passed on from main.
package struct CommandContext: Sendable {
    var now: @Sendable () -> Date
    /// Turned on by SIGTERM and SIGINT.
    var stop: StopSwitch
    /// The environment variables.
    var environment: [String: String]

    package init(
        now: @escaping @Sendable () -> Date, stop: StopSwitch, environment: [String: String] = [:]
    ) {
        self.now = now
        self.stop = stop
        self.environment = environment
    }
}
