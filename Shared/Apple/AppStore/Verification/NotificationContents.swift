import StrictJSON

import struct Foundation.Date
import struct Foundation.UUID

/// The signed objects inside a notification: proven by the same routine, and compared with the envelope and each other.
struct NotificationContents {
    private(set) var originalTransactionId: String?
    private(set) var transactionId: String?
    private(set) var appAccountToken: UUID?
    private var replacements: [(Range<Int>, [UInt8])] = []

    /// Members that hold a JWS, and which member of it has the signing date.
    private static let members: [(name: String, dateField: String)] = [
        ("signedTransactionInfo", "signedDate"), ("signedRenewalInfo", "signedDate"),
        ("signedAppTransactionInfo", "receiptCreationDate"),
    ]

    init(
        _ subject: NotificationEnvelope.Subject?, of app: IdentityCheck.Identity, in envelope: PayloadProver.Proof,
        prover: PayloadProver, now: Date, budget: ChainBudget? = nil
    ) throws(VerificationFailure) {
        guard let subject, let object = subject.object else { return }
        guard subject.isKnown else {
            // Nothing is documented of it: what it says of a purchase in plain text is where it is read.
            originalTransactionId = object["originalTransactionId"]?.string
            transactionId = object["transactionId"]?.string
            return
        }
        func refuse(_ reason: VerificationFailureReason, _ message: String) -> VerificationFailure {
            VerificationFailure(reason, "\(subject.member).\(message)", bundleId: app.bundleId, concernsOwnApp: true)
        }
        for (name, dateField) in Self.members {
            guard let member = object[name], !member.isNull else { continue }
            guard let jws = Self.content(of: member, in: envelope.document) else {
                throw refuse(.body, "\(name) is not a string")
            }
            let proof: PayloadProver.Proof
            do {
                proof = try prover.prove(jws, dateFields: [dateField], now: now, hint: envelope.header, budget: budget)
            } catch {
                throw error.nested(in: "\(subject.member).\(name)", bundleId: app.bundleId)
            }
            let root = proof.document.root
            guard Self.agrees(root, with: app, isRenewal: name == "signedRenewalInfo") else {
                throw refuse(.nestedMismatch, "\(name) is of another app or environment than the envelope")
            }
            guard noteOriginalTransaction(root) else {
                throw refuse(.nestedMismatch, "\(name) is of another original transaction than signedTransactionInfo")
            }
            if name == "signedTransactionInfo" { transactionId = root["transactionId"]?.string }
            if appAccountToken == nil {
                appAccountToken = root["appAccountToken"]?.string.flatMap(UUID.init(uuidString:))
            }
            replacements.append((member.range, proof.document.bytes))
        }
        // Where Apple names no original transaction, this one is the first.
        if originalTransactionId == nil { originalTransactionId = transactionId }
    }

    /// The envelope with each JWS replaced by what it signs.
    func spliced(into envelope: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        let removed = replacements.reduce(0) { $0 + $1.0.count - $1.1.count }
        result.reserveCapacity(max(0, envelope.count - removed))
        var copied = 0
        for (range, replacement) in replacements.sorted(by: { $0.0.lowerBound < $1.0.lowerBound }) {
            result += envelope[copied..<range.lowerBound]
            result += replacement
            copied = range.upperBound
        }
        return result + envelope[copied...]
    }

    /// Its place in the envelope, unless it was written with escapes.
    private static func content(of member: JSONValue, in document: JSONDocument) -> ArraySlice<UInt8>? {
        if let range = member.plainRange { return document.bytes[range] }
        return member.unescapedBytes.map { $0[...] }
    }

    /// Renewal info names no app. An empty environment, which occurs, contradicts nothing.
    private static func agrees(
        _ root: JSONValue, with app: IdentityCheck.Identity, isRenewal: Bool
    ) -> Bool {
        if root["bundleId"]?.string != app.bundleId, !(isRenewal && root["bundleId"] == nil) { return false }
        let environment = root["environment"] ?? root["receiptType"]
        guard let environment, !environment.isNull else { return true }
        return environment.string == app.environment.rawValue || environment.string == ""
    }

    /// False where another original transaction has been noted before.
    private mutating func noteOriginalTransaction(_ root: JSONValue) -> Bool {
        guard let value = root["originalTransactionId"], !value.isNull else { return true }
        guard let text = value.string else { return false }
        guard !text.isEmpty else { return true }
        if let noted = originalTransactionId { return noted == text }
        originalTransactionId = text
        return true
    }
}
