import Chassis
import Signatures
import Storage

import struct Foundation.UUID

/// A read that must see an upload: waits until the ledger has it, on any instance.
struct ReadAfter: Sendable {
    /// Longer than the pipeline takes, shorter than a person notices.
    static let patience = Duration.seconds(2)
    private static let pause = Duration.milliseconds(25)
    private static let most = 256

    let database: Database
    let sleep: @Sendable (Duration) async throws -> Void

    /// Names parts that were recorded.
    static func token(_ parts: [UUID]) -> String {
        var text: [UInt8] = []
        let bytes = parts.flatMap { part in withUnsafeBytes(of: part.uuid) { Array($0) } }
        text += Base64.encode(bytes[...], .url)
        return String(decoding: text, as: UTF8.self)
    }

    /// - Returns: whether the ledger has all parts; false where they are not there in time.
    /// - Throws: `Problem` where the token is none of ours.
    func isReached(_ token: String) async throws -> Bool {
        let parts = try Self.parts(token)
        var waited = Duration.zero
        while true {
            let rows = try await database.rows(LedgerStore.command(recorded: parts))
            if rows.count == Set(parts).count { return true }
            guard waited < Self.patience else { return false }
            try await sleep(Self.pause)
            waited += Self.pause
        }
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
