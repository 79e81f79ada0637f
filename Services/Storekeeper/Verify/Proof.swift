import AppStore
import Signatures
import StrictJSON

import struct Foundation.Date

/// What can be said of a signed payload: its certificates, its content, and whether it is proven.
struct Proof: Sendable {
    /// What Apple signs.
    enum Kind: String, Sendable, CaseIterable {
        case notification
        case transaction
        case renewalInfo = "renewal-info"
        case appTransaction = "app-transaction"
    }

    /// For whom it must be; nil is anybody.
    struct Identity: Sendable {
        var bundleId: String?
        var appAppleId: Int64?
        var environment: AppStoreEnvironment?
    }

    let kind: Kind
    let isKindGuessed: Bool
    /// As the header lists them, leaf first; those that can be read.
    let certificates: [Certificate]
    /// The payload as JSON; nil where it is none. Signed parts of a proven notification are decoded in their places.
    let payload: [UInt8]?
    /// Nil where it is proven.
    let refusal: Refusal?
    let identity: Identity
    let judgedAt: Date

    /// Judges.
    /// - Parameter kind: nil guesses by the fields.
    init(of jws: [UInt8], kind: Kind?, trust: TrustStore, identity: Identity, now: Date) {
        let claim = Claim(jws)
        self.kind = kind ?? claim.kind
        isKindGuessed = kind == nil
        certificates = claim.certificates
        self.identity = identity
        judgedAt = now
        let verifier = SignedDataVerifier(trust: trust, apps: claim.registry(for: identity))
        switch self.kind {
        case .notification:
            switch verifier.notification(jws, now: now) {
            case .success(let proven): (payload, refusal) = (proven.decoded, nil)
            case .failure(let refusal): (payload, self.refusal) = (claim.payload, refusal)
            }
        case .transaction: (payload, refusal) = (claim.payload, verifier.transaction(jws, now: now).refusal)
        case .renewalInfo: (payload, refusal) = (claim.payload, verifier.renewalInfo(jws, now: now).refusal)
        case .appTransaction: (payload, refusal) = (claim.payload, verifier.appTransaction(jws, now: now).refusal)
        }
    }

    /// Whether the root is Apple's own.
    var isApples: Bool { certificates.contains { $0.sha256 == TrustStore.appleRootDigest } }
}

extension Result where Failure == Refusal {
    fileprivate var refusal: Refusal? {
        guard case .failure(let refusal) = self else { return nil }
        return refusal
    }
}

/// What a payload says of itself, believed for nothing but choosing how to look at it and showing it.
private struct Claim {
    let payload: [UInt8]?
    let certificates: [Certificate]
    private let root: JSONValue?

    init(_ jws: [UInt8]) {
        let parts = CompactJWS(jws[...])
        let document = parts.flatMap { Base64.decode($0.payload, .url) }.flatMap { try? JSONDocument($0) }
        root = document?.root
        payload = document.map { Array($0.root.rawBytes) }
        let header = parts.flatMap { Base64.decode($0.header, .url) }.flatMap { try? JSONDocument($0) }
        certificates = (header?.root["x5c"]?.elements ?? []).compactMap { element in
            element.unescapedBytes.flatMap { Base64.decode($0[...], .standard) }.flatMap { try? Certificate(der: $0) }
        }
    }

    var kind: Proof.Kind {
        if root?["notificationType"] != nil { return .notification }
        if root?["receiptType"] != nil || root?["originalApplicationVersion"] != nil { return .appTransaction }
        if root?["transactionId"] != nil { return .transaction }
        return root?["autoRenewProductId"] != nil || root?["autoRenewStatus"] != nil ? .renewalInfo : .notification
    }

    /// Accepts whom the payload names wherever the identity leaves it open.
    func registry(for identity: Proof.Identity) -> AppRegistry {
        let all: [AppStoreEnvironment] = [.production, .sandbox, .xcode, .localTesting]
        let app = AcceptedApp(
            bundleId: identity.bundleId ?? member("bundleId")?.string ?? "(none)",
            appAppleId: identity.appAppleId ?? member("appAppleId")?.int64,
            environments: identity.environment.map { [$0] } ?? Set(all))
        return AppRegistry(apps: [app], developmentMode: true)
    }

    private func member(_ name: String) -> JSONValue? {
        let holders = [root] + ["data", "summary", "externalPurchaseToken", "appData"].map { root?[$0] }
        return holders.lazy.compactMap { $0?[name] }.first
    }
}
