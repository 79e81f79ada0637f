import Signatures

import struct Foundation.Date

/// An app receipt that Apple signed for one of our apps. Only the verifier makes one.
///
/// What it lists were purchases when the receipt was made; what became of them tells Apple's API, which is asked about every
/// id. Whether it was made for the device that sends it is not known here: that takes the device's identifier.
///
/// <https://developer.apple.com/documentation/appstorereceipts>
public struct ProvenReceipt: Sendable, Hashable {
    /// Bundle identifier of the app.
    public let bundleId: String
    /// Where the purchases were made.
    public let environment: AppStoreEnvironment
    /// When Apple made it.
    public let createdAt: Date
    /// The version of the app that the customer first got.
    public let originalApplicationVersion: String?
    /// Of all purchases, each once, in the receipt's order; empty where nothing was bought.
    public let originalTransactionIds: [String]

    /// - Throws: `VerificationFailure`.
    init(_ bytes: [UInt8], trust: TrustStore, identity: IdentityCheck, now: Date) throws(VerificationFailure) {
        let message = try Self.message(bytes, trust: trust)
        let contents: ReceiptContents
        do {
            contents = try ReceiptContents(message.content[...])
        } catch {
            throw VerificationFailure(.body, "signed, but \(error)")
        }
        guard let bundleId = contents.bundleId, let environment = contents.environment, let date = contents.createdAt
        else {
            throw VerificationFailure(
                .body, "signed, but it names no app, environment or date", bundleId: contents.bundleId)
        }
        // Apple says: judge the certificates at the date on which the receipt was made.
        guard date <= min(message.validUntil, now.addingTimeInterval(86_400)) else {
            throw VerificationFailure(
                .expiredAtSigning, "a certificate had expired when the receipt was made", bundleId: bundleId)
        }
        guard date >= message.validFrom else {
            throw VerificationFailure(
                .notYetValid, "a certificate was not valid yet when the receipt was made", bundleId: bundleId)
        }
        let place = AppStoreEnvironment(receiptType: environment)
        try identity.check(bundleId: bundleId, appAppleId: nil, environment: place, namesAppAppleId: false)
        self.bundleId = bundleId
        self.environment = place
        createdAt = date
        originalApplicationVersion = contents.originalApplicationVersion
        originalTransactionIds = contents.originalTransactionIds
    }

    private static func message(_ bytes: [UInt8], trust: TrustStore) throws(VerificationFailure) -> SignedMessage {
        let proof: Result<SignedMessage, SignedMessage.Fault>
        do {
            proof = try SignedMessage.prove(bytes, trust: trust.forReceipts)
        } catch {
            throw VerificationFailure(.chainUntrusted, "the chain could not be judged: \(error)")
        }
        switch proof {
        case .success(let message): return message
        case .failure(.malformed):
            throw VerificationFailure(.malformed, "not PKCS#7 data of one signer, as app receipts are")
        case .failure(.signature):
            throw VerificationFailure(
                .signature, "the signature is not over this content; the receipt was altered or cut")
        case .failure(.chain(let failure)): throw VerificationFailure(failure)
        }
    }
}

extension AppStoreEnvironment {
    /// Receipts of volume purchases have words of their own.
    init(receiptType: String) {
        self =
            switch receiptType {
            case "ProductionVPP": .production
            case "ProductionSandbox", "ProductionVPPSandbox": .sandbox
            default: AppStoreEnvironment(rawValue: receiptType)
            }
    }
}
