import ArgumentParser

import struct Foundation.Date

/// The time between `--from` and `--to`, each of which may be left open.
struct DateRange: Sendable, Equatable {
    let from: Date?
    let to: Date?

    /// - Throws: `ValidationError` where it ends before it begins: an empty answer would look like a true one.
    init(from: TimeArgument?, to: TimeArgument?, now: Date) throws {
        self.from = from?.date(now: now)
        self.to = to?.date(now: now)
        if let from = self.from, let to = self.to, from >= to {
            throw ValidationError("--to has to lie after --from: this is \(from.text) to \(to.text)")
        }
    }
}
