import struct Foundation.Date
import struct Foundation.UUID

/// The clock, randomness, environment and terminal of a command; passed in by main, so that tests can replace them.
struct CommandContext: Sendable {
    /// The current time.
    var now: @Sendable () -> Date
    /// A random seed.
    var seed: @Sendable () -> UInt64
    /// A new UUID.
    var id: @Sendable () -> UUID
    /// As many random bytes, good enough for a secret.
    var randomBytes: @Sendable (Int) -> [UInt8] = { count in (0..<count).map { _ in .random(in: 0...255) } }
    /// Path of this executable; the services are in the same directory.
    var executable: String?
    /// The environment variables.
    var environment: [String: String]
    /// The current user, for the audit log.
    var user: String
    /// Writes a line to standard output.
    var print: @Sendable (String) -> Void
    /// Writes a line to standard error.
    var warn: @Sendable (String) -> Void
    /// Asks at the terminal for confirmation; nil without a terminal.
    var confirm: (@Sendable (String) async -> Bool)?

    /// The named variables: a command ignores the settings of others.
    func environment(of names: [String]) -> [String: String] {
        environment.filter { names.contains($0.key) }
    }
}
