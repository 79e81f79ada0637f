import Foundation
import Signatures

/// Which certificates are revoked, by a file that can be edited while the responder runs.
///
/// One per line: `leaf`, `intermediate`, or a serial number in hexadecimal; optionally the time of revocation in milliseconds
/// since 1970. Empty lines and comments after # are ignored. A missing file revokes nothing.
struct RevocationList: Sendable {
    private let dates: [String: Date]

    /// - Parameters:
    ///   - names: the serial numbers of certificates that have a name.
    ///   - now: the time of revocation where a line has none.
    init(_ text: String, names: [String: String], now: Date) {
        var dates: [String: Date] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }
            guard let name = words.first else { continue }
            let serial = names[String(name)] ?? name.uppercased()
            let since = words.dropFirst().first.flatMap { Int64($0) }
            dates[serial] = since.map { Date(timeIntervalSince1970: Double($0) / 1000) } ?? now
        }
        self.dates = dates
    }

    func standing(of serialNumber: String) -> OCSPAnswer.Standing {
        dates[serialNumber].map { .revoked($0, reason: "unspecified") } ?? .good
    }
}
