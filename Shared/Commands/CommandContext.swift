import struct Foundation.Date
import struct Foundation.UUID

/// The clock, randomness, environment and terminal of a command; passed in by main, so that tests can replace them.
package struct CommandContext: Sendable {
    /// The current time.
    package var now: @Sendable () -> Date
    /// The same without what a simulator adds to it, to be compared with the clock of another machine.
    package var unmoved: @Sendable () -> Date = { Date() }
    /// A random seed.
    package var seed: @Sendable () -> UInt64
    /// A new UUID.
    package var id: @Sendable () -> UUID
    /// As many random bytes, good enough for a secret.
    package var randomBytes: @Sendable (Int) -> [UInt8] = { count in (0..<count).map { _ in .random(in: 0...255) } }
    /// Path of this executable; the services are in the same directory.
    package var executable: String?
    /// The environment variables.
    package var environment: [String: String]
    /// The current user, for the audit log.
    package var user: String
    /// How standard output looks.
    package var style = TerminalStyle.none
    /// Writes a line to standard output.
    package var print: @Sendable (String) -> Void
    /// Writes a line to standard error.
    package var warn: @Sendable (String) -> Void
    /// Asks at the terminal for confirmation; nil without a terminal.
    package var confirm: (@Sendable (String) async -> Bool)?

    package init(
        now: @escaping @Sendable () -> Date, seed: @escaping @Sendable () -> UInt64, id: @escaping @Sendable () -> UUID,
        executable: String?, environment: [String: String], user: String, print: @escaping @Sendable (String) -> Void,
        warn: @escaping @Sendable (String) -> Void, confirm: (@Sendable (String) async -> Bool)?
    ) {
        self.now = now
        self.seed = seed
        self.id = id
        self.executable = executable
        self.environment = environment
        self.user = user
        self.print = print
        self.warn = warn
        self.confirm = confirm
    }

    /// The named variables: a command ignores the settings of others.
    package func environment(of names: [String]) -> [String: String] {
        environment.filter { names.contains($0.key) }
    }
}
