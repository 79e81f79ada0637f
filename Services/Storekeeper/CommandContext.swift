import struct Foundation.Date
import struct Foundation.UUID

/// What a command may not fetch for itself: handed down from main.
struct CommandContext: Sendable {
    /// The time of day.
    var now: @Sendable () -> Date
    /// A seed for a run that was given none.
    var seed: @Sendable () -> UInt64
    /// A new name for something.
    var id: @Sendable () -> UUID
    /// Path of the running program; its siblings are the services.
    var executable: String?
    /// The variables of the process.
    var environment: [String: String]
    /// Who is at the keyboard, for the trail of what was done by hand.
    var user: String
    /// Writes a line to standard output.
    var print: @Sendable (String) -> Void
    /// Writes a line to standard error.
    var warn: @Sendable (String) -> Void
    /// Asks whoever sits at the terminal, and waits for a yes; nil where nobody does.
    var confirm: (@Sendable (String) async -> Bool)?

    /// Those that are named: a command's settings, and nobody else's to stumble over.
    func environment(of names: [String]) -> [String: String] {
        environment.filter { names.contains($0.key) }
    }
}
