import AppStore
import Development
import Foundation
import Signatures

extension ForgeryMaterial {
    /// Genuine envelopes around what does not belong in them.
    func nestings() throws -> [Forgery] {
        func with(_ transaction: String) throws -> [UInt8] {
            try signed(envelope { $0.data?.signedTransactionInfo = transaction })
        }
        func withRenewal(_ renewal: String) throws -> [UInt8] {
            try signed(envelope { $0.data?.signedRenewalInfo = renewal })
        }
        func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
        let genuine = try self.text(transaction())
        let foreign = try PayloadSigner(authority: stranger).sign(transaction().json)
        let none = try CompactJWS.signed(
            headerJSON: CompactJWS.headerJSON(x5c: authority.x5c, algorithm: "none"), payloadJSON: transaction().json,
            key: authority.leafKey)
        let mismatched: [(String, JWSTransactionDecodedPayload, JWSRenewalInfoDecodedPayload)] = [
            ("a transaction of another app", transaction { $0.bundleId = Self.productionOnly }, renewal()),
            ("a transaction of another developer", transaction { $0.bundleId = "com.example.other" }, renewal()),
            ("a transaction that names no app", transaction { $0.bundleId = nil }, renewal()),
            ("a transaction of the sandbox", transaction { $0.environment = .sandbox }, renewal()),
            ("a transaction from Xcode", transaction { $0.environment = .xcode }, renewal()),
            (
                "a transaction of another customer", transaction { $0.originalTransactionId = "2000000000000666" },
                renewal()
            ),
            ("renewal information of the sandbox", transaction(), renewal { $0.environment = .sandbox }),
            (
                "renewal information of another customer", transaction(),
                renewal { $0.originalTransactionId = "2000000000000666" }
            ),
        ]
        var cases = try mismatched.map {
            Forgery("an envelope around \($0.0)", .nestedMismatch, try signed(envelope($0.1, $0.2)))
        }
        cases += [
            Forgery(
                "an envelope around an app transaction of another app", .nestedMismatch,
                try signed(appDataEnvelope(appTransaction { $0.bundleId = Self.productionOnly }))),
            Forgery(
                "an envelope around an app transaction of the sandbox", .nestedMismatch,
                try signed(appDataEnvelope(appTransaction { $0.receiptType = .sandbox }))),
            Forgery(
                "an envelope around a changed transaction", .signature, try with(text(altered(Array(genuine.utf8))))),
            Forgery("an envelope around a stranger's transaction", .chainUntrusted, try with(text(foreign))),
            Forgery("an envelope around a transaction without signature", .algorithm, try with(text(none))),
            Forgery("an envelope around half a transaction", .malformed, try with(segments(Array(genuine.utf8))[1])),
            Forgery("an envelope around nothing", .malformed, try with("")),
            Forgery(
                "an envelope around changed renewal information", .signature,
                try withRenewal(text(altered(signed(renewal()))))),
            Forgery(
                "an envelope around stranger's renewal information", .chainUntrusted,
                try withRenewal(text(PayloadSigner(authority: stranger).sign(renewal().json)))),
            Forgery(
                "an envelope around a transaction of the future", .notYetValid,
                try with(self.text(transaction { $0.signedDate = days(3) }))),
            Forgery(
                "an envelope around an ancient transaction", .expiredAtSigning,
                try with(self.text(transaction { $0.signedDate = days(-500) }))),
            Forgery(
                "an envelope around a transaction with a key twice", .body,
                try with(text(signed(json: json(transaction()).dropLast() + #","bundleId":"x"}"#)))),
            Forgery("an envelope around another envelope", .nestedMismatch, try with(self.text(envelope()))),
        ]
        return cases
    }
}
