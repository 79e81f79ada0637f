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
    /// What the signature leads to; nil where it is not proven. Not what the header lists: anybody can list Apple's root.
    let chain: ValidatedChain?
    let identity: Identity
    let judgedAt: Date

    /// Judges.
    /// - Parameter kind: nil guesses by the fields.
    init(of jws: [UInt8], kind: Kind?, trust: TrustStore, identity: Identity, now: Date) {
        let claim = UnverifiedContents(jws)
        self.kind = kind ?? claim.kind
        isKindGuessed = kind == nil
        certificates = claim.certificates
        self.identity = identity
        judgedAt = now
        let verifier = SignedDataVerifier(trust: trust, apps: claim.registry(for: identity))
        let proven: Result<(chain: ValidatedChain, decoded: [UInt8]), Refusal> =
            switch self.kind {
            case .notification: verifier.notification(jws, now: now).map { ($0.chain, $0.decoded) }
            case .transaction: verifier.transaction(jws, now: now).map { ($0.chain, $0.decoded) }
            case .renewalInfo: verifier.renewalInfo(jws, now: now).map { ($0.chain, $0.decoded) }
            case .appTransaction: verifier.appTransaction(jws, now: now).map { ($0.chain, $0.decoded) }
            }
        switch proven {
        case .success(let proven): (chain, payload, refusal) = (proven.chain, proven.decoded, nil)
        case .failure(let refusal): (chain, payload, self.refusal) = (nil, claim.payload, refusal)
        }
    }

    /// Whether the signature leads to Apple's own root.
    var isApples: Bool { chain?.root.sha256 == TrustStore.appleRootDigest }
}

/// What a payload says of itself, believed for nothing but choosing how to look at it and showing it.
private struct UnverifiedContents {
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
