import Contracts

import struct Foundation.Date
import struct Foundation.UUID

/// Issues uuids and Apple's numbers, each once.
///
/// Drawn from the seed and the moment of the run together, so that a second run with the same seed has the same purchases but
/// is not a repetition of the first. With the same moment, everything is the same.
struct Identities: Sendable {
    private var random: SeededRandom
    private var serial: Int64

    init(seed: UInt64, now: Date) {
        random = SeededRandom(seed: seed ^ (UInt64(bitPattern: now.milliseconds) &* 0xD6E8_FEB8_6659_FD93))
        serial = Int64(random.next() % 800_000_000_000_000)
    }

    mutating func uuid() -> UUID { random.uuid() }

    /// 15 digits in production, 16 with a leading 2 in sandbox, as Apple's are.
    mutating func transactionId(in environment: StoreEnvironment) -> String {
        let offset: Int64 = environment == .production ? 100_000_000_000_000 : 2_000_000_000_000_000
        return String(offset + next())
    }

    mutating func webOrderLineItemId(in environment: StoreEnvironment) -> String { transactionId(in: environment) }

    mutating func appTransactionId() -> String { String(704_000_000_000_000_000 + next()) }

    /// Rising with gaps: clients must not rely on consecutive ids.
    private mutating func next() -> Int64 {
        serial += 1 + Int64(random.next() % 97)
        return serial
    }
}
