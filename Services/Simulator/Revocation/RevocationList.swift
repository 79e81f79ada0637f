import Foundation
import Signatures

/// Which certificates are revoked, as a file says it that can be edited while the responder runs.
///
/// One a line: `leaf`, `intermediate`, or a serial number in hexadecimal, and behind it, if wanted, since when in
/// milliseconds since 1970. Empty lines and what follows # do not count. A file that is not there revokes nothing.
struct RevocationList: Sendable {
    private let dates: [String: Date]

    /// - Parameters:
    ///   - names: the serial numbers of certificates that may be called by a name.
    ///   - now: since when a certificate is revoked whose line does not say it.
    init(_ text: String, names: [String: String], now: Date) {
        var dates: [String: Date] = [:]
        for line in text.split(separator: "\n") {
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" || $0 == "\r" }
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
