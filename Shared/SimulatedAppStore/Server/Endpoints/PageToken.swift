import AppStore
import Contracts
import Foundation
import Signatures

/// The position of a reader: a paginationToken or a revision. Opaque to clients, and valid for one request only.
struct PageToken: Sendable, Equatable {
    /// The next position, or the newest revision seen.
    var position: Int64
    /// The end of the window, or the revision at which a descending read began.
    var limit: Int64
    /// Milliseconds since 1970.
    var issuedAt: Int64
    /// The fingerprint of its request.
    var question: UInt64

    init(position: Int64, limit: Int64, issuedAt: Date, question: UInt64) {
        self.position = position
        self.limit = limit
        self.issuedAt = issuedAt.milliseconds
        self.question = question
    }

    /// Nil for what ``text`` never produced.
    init?(_ text: String) {
        guard let bytes = Base64.decode(Array(text.utf8)[...], .url), bytes.count == 40 else { return nil }
        let numbers = stride(from: 0, to: 40, by: 8).map { start in
            bytes[start..<(start + 8)].reduce(0) { $0 << 8 | UInt64($1) }
        }
        guard numbers[4] == Self.hash(bytes.prefix(32)) else { return nil }
        position = Int64(bitPattern: numbers[0])
        limit = Int64(bitPattern: numbers[1])
        issuedAt = Int64(bitPattern: numbers[2])
        question = numbers[3]
    }

    var text: String {
        let numbers = [UInt64(bitPattern: position), UInt64(bitPattern: limit), UInt64(bitPattern: issuedAt), question]
        var bytes = numbers.flatMap(Self.bytes(of:))
        bytes += Self.bytes(of: Self.hash(bytes[...]))
        return String(decoding: Base64.encode(bytes, .url), as: UTF8.self)
    }

    /// Identifies a request: equal parameters have equal fingerprints.
    static func question(_ parts: [String?]) -> UInt64 {
        hash(Array(parts.map { $0.map { "\($0.utf8.count):\($0)" } ?? "-" }.joined(separator: ",").utf8)[...])
    }

    private static func bytes(of number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }

    /// FNV-1a: it prevents mistakes, not forgery.
    private static func hash(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}
