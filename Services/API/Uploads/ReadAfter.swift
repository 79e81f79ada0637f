import Chassis
import Signatures
import Storage

import struct Foundation.UUID

/// A read that must see an upload: waits until the ledger has it, on any instance.
struct ReadAfter: Sendable {
    /// Longer than the pipeline takes, shorter than a person notices.
    static let patience = Duration.seconds(2)
    /// Between two looks: doubled each time.
    private static let pauses = (first: Duration.milliseconds(25), longest: Duration.milliseconds(200))
    private static let most = 256

    let database: Database
    let budgets: KeyBudgets
    let sleep: @Sendable (Duration) async throws -> Void

    /// Names parts that were recorded.
    static func token(_ parts: [UUID]) -> String {
        var text: [UInt8] = []
        let bytes = parts.flatMap { part in withUnsafeBytes(of: part.uuid) { Array($0) } }
        text += Base64.encode(bytes[...], .url)
        return String(decoding: text, as: UTF8.self)
    }

    /// - Returns: whether the ledger has all parts; false where they are not there in time, at once where the key has no more waits.
    /// - Throws: `Problem` where the token is none of ours.
    func isReached(_ token: String, for key: ClientKey) async throws -> Bool {
        var missing = try await missing(of: Set(Self.parts(token)))
        guard !missing.isEmpty else { return true }
        guard let place = budgets.enter(key.id, .wait) else { return false }
        defer { withExtendedLifetime(place) {} }
        var (waited, pause) = (Duration.zero, Self.pauses.first)
        while waited < Self.patience {
            try await sleep(pause)
            waited += pause
            pause = min(pause * 2, Self.pauses.longest)
            missing = try await self.missing(of: missing)
            if missing.isEmpty { return true }
        }
        return false
    }

    private func missing(of parts: Set<UUID>) async throws -> Set<UUID> {
        let rows = try await database.rows(LedgerStore.command(recorded: Array(parts)))
        return parts.subtracting(try rows.map { row in try row.value(at: 0, as: UUID.self) })
    }

    private static func parts(_ token: String) throws(Problem) -> [UUID] {
        guard let bytes = Base64.decode(Array(token.utf8)[...], .url), !bytes.isEmpty, bytes.count % 16 == 0,
            bytes.count <= most * 16
        else {
            throw Problem(
                .malformedRequest,
                "Storekeeper-Read-After is not the readAfter of an upload; send it as it was answered.")
        }
        return stride(from: 0, to: bytes.count, by: 16).map { start in
            var part = UUID.zero.uuid
            withUnsafeMutableBytes(of: &part) { $0.copyBytes(from: bytes[start..<start + 16]) }
            return UUID(uuid: part)
        }
    }
}
