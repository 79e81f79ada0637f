import AppStore
import struct Foundation.Date

/// Something signed in an answer, and what the verifier found.
///
/// A rejected one stands beside the others of its page: nothing that Apple adds or breaks in one transaction hides the rest.
/// It prints as its verdict, never as its payload.
public struct SignedItem<Value: Payload>: Sendable, CustomStringConvertible, CustomReflectable {
    /// The JWS as Apple sent it.
    public let jws: [UInt8]
    /// What is proven, or the one reason why nothing is.
    public let proof: Result<Proven<Value>, VerificationFailure>

    /// Proven, or the reason why not.
    public var description: String {
        switch proof {
        case .success: "verified \(Value.self)"
        case .failure(let rejection): "rejected \(Value.self): \(rejection)"
        }
    }

    /// The description: a dump shows no payload either.
    public var customMirror: Mirror { Mirror(self, children: ["proof": description]) }

    /// The payload, where it is proven.
    public var value: Value? {
        switch proof {
        case .success(let proven): proven.value
        case .failure: nil
        }
    }
}

/// Proves what stands signed in the answers to one app's client.
struct AnswerProver: Sendable {
    let verifier: SignedDataVerifier
    let bundleId: String
    let environment: AppStoreEnvironment
    let now: Date

    func transaction(_ jws: [UInt8]) -> SignedItem<JWSTransactionDecodedPayload> {
        SignedItem(
            jws: jws,
            proof: verifier.transaction(jws, now: now).flatMap { proven in
                held(proven, bundleId: proven.value.bundleId, environment: proven.value.environment)
            })
    }

    func transactions(_ signed: [[UInt8]]) -> [SignedItem<JWSTransactionDecodedPayload>] { signed.map(transaction) }

    func appTransaction(_ jws: [UInt8]) -> SignedItem<AppTransaction> {
        SignedItem(
            jws: jws,
            proof: verifier.appTransaction(jws, now: now).flatMap { proven in
                held(proven, bundleId: proven.value.bundleId, environment: proven.value.receiptType)
            })
    }

    /// Renewal information names no app: it is held to the transaction that came with it.
    func renewalInfo(
        _ jws: [UInt8], of transaction: SignedItem<JWSTransactionDecodedPayload>?
    ) -> SignedItem<JWSRenewalInfoDecodedPayload> {
        let proof = verifier.renewalInfo(jws, now: now).flatMap { proven in
            held(proven, bundleId: bundleId, environment: proven.value.environment)
        }.flatMap { proven in
            guard let subscription = transaction?.value?.purchaseId,
                subscription != proven.value.originalTransactionId
            else { return .success(proven) }
            return .failure(
                VerificationFailure(
                    .nestedMismatch, "signedRenewalInfo is of another original transaction than its transaction"))
        }
        return SignedItem(jws: jws, proof: proof)
    }

    /// The verifier accepts every configured app; an answer about one of them has nothing of the others.
    private func held<Value>(
        _ proven: Proven<Value>, bundleId named: String?, environment signed: AppStoreEnvironment?
    ) -> Result<Proven<Value>, VerificationFailure> {
        guard named == bundleId, signed == environment else {
            return .failure(
                VerificationFailure(
                    .nestedMismatch, "signed for another app or environment than was asked about", bundleId: named))
        }
        return .success(proven)
    }
}
