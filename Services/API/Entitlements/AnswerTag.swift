import Contracts
import Digests
import Signatures
import Storage

import struct Foundation.Date
import struct Foundation.UUID

/// The `ETag` of an answer for one account: a digest of the answer, until when it holds if nothing changes, and a digest of the versions
/// of everything that it was made of.
///
/// With the same versions, before that time, the answer is the same: one look-up of the versions then tells it, without the answer.
struct AnswerTag: Sendable, Equatable {
    /// Digest of the answer without its time.
    var answer: String
    /// Milliseconds since 1970.
    var until: Int64
    /// Nil where the answer may change by something that has no version, such as the state of a withheld purchase by the clock.
    var versions: String?

    /// The text of the header.
    var text: String { "W/\"\(answer).\(String(until, radix: 36)).\(versions ?? "")\"" }

    init(answer: [UInt8], until: Date?, versions: String?) {
        self.answer = Self.digest(answer)
        self.until = until?.milliseconds ?? .max
        self.versions = versions
    }

    /// Nil where the text is no tag of an answer.
    init?(_ text: String) {
        guard text.hasPrefix("W/\""), text.hasSuffix("\""), text.utf8.count > 3 else { return nil }
        let parts = text.dropFirst(3).dropLast().split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let until = Int64(parts[1], radix: 36) else { return nil }
        (answer, self.until) = (String(parts[0]), until)
        versions = parts[2].isEmpty ? nil : String(parts[2])
    }

    /// - Parameters:
    ///   - bundleIds: nil means all apps.
    ///   - definitions: the version of the definitions and levels.
    static func versions(
        of account: UUID, in environment: StoreEnvironment, bundleIds: [String]?, _ version: EntitlementStore.Version,
        definitions: Int64
    ) -> String {
        let apps = bundleIds.map { $0.sorted().joined(separator: " ") } ?? "*"
        return digest(
            Array(
                "\(account) \(environment.rawValue) \(version.account) \(version.revisions) \(definitions) \(apps)".utf8
            ))
    }

    private static func digest(_ bytes: [UInt8]) -> String {
        String(decoding: Base64.encode(SHA256Hash.digest(bytes)[..<15], .url), as: UTF8.self)
    }
}
