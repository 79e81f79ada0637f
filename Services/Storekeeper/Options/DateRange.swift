import ArgumentParser

import struct Foundation.Date

/// The time between `--from` and `--to`, either of which may be open.
struct DateRange: Sendable, Equatable {
    let from: Date?
    let to: Date?

    /// - Throws: `ValidationError` where it ends before it begins: an empty result would look like a real one.
    init(from: TimeArgument?, to: TimeArgument?, now: Date) throws {
        self.from = from?.date(now: now)
        self.to = to?.date(now: now)
        if let from = self.from, let to = self.to, from >= to {
            throw ValidationError("--to \(to.text) is not after --from \(from.text)")
        }
    }
}
