import AppStore
import Signatures
import StrictJSON

import struct Foundation.Date

/// The verification of a signed payload: its certificates, contents, and the result.
package struct Proof: Sendable {
    /// The kinds of signed payloads.
    package enum Kind: String, Sendable, CaseIterable {
        case notification
        case transaction
        case renewalInfo = "renewal-info"
        case appTransaction = "app-transaction"
        /// Apple's request to the realtime URL of retention messages.
        case realtimeRequest = "realtime-request"
    }

    /// The expected app and environment; nil accepts any.
    package struct Identity: Sendable {
        package var bundleId: String?
        package var appAppleId: Int64?
        package var environment: AppStoreEnvironment?

        package init(bundleId: String? = nil, appAppleId: Int64? = nil, environment: AppStoreEnvironment? = nil) {
            self.bundleId = bundleId
            self.appAppleId = appAppleId
            self.environment = environment
        }
    }

    package let kind: Kind
    package let isKindGuessed: Bool
    /// The readable certificates of the header, leaf first.
    package let certificates: [Certificate]
    /// The payload as JSON; nil where it is not JSON. Signed objects within a verified notification are decoded.
    package let payload: [UInt8]?
    /// Nil where verification succeeded.
    package let rejection: VerificationFailure?
    /// The validated chain; nil where verification failed. Not the header's list: any sender can list Apple's root.
    package let chain: ValidatedChain?
    package let identity: Identity
    package let verifiedAt: Date

    /// Verifies.
    /// - Parameter kind: nil detects it from the fields.
    package init(of jws: [UInt8], kind: Kind?, trust: TrustStore, identity: Identity, now: Date) {
        let claim = UnverifiedContents(jws)
        self.kind = kind ?? claim.kind
        isKindGuessed = kind == nil
        certificates = claim.certificates
        self.identity = identity
        verifiedAt = now
        let verifier = SignedDataVerifier(trust: trust, apps: claim.registry(for: identity))
        let proven: Result<(chain: ValidatedChain, decoded: [UInt8]), VerificationFailure> =
            switch self.kind {
            case .notification: verifier.notification(jws, now: now).map { ($0.chain, $0.decoded) }
            case .transaction: verifier.transaction(jws, now: now).map { ($0.chain, $0.decoded) }
            case .renewalInfo: verifier.renewalInfo(jws, now: now).map { ($0.chain, $0.decoded) }
            case .appTransaction: verifier.appTransaction(jws, now: now).map { ($0.chain, $0.decoded) }
            case .realtimeRequest: verifier.realtimeRequest(jws, now: now).map { ($0.chain, $0.decoded) }
            }
        switch proven {
        case .success(let proven): (chain, payload, rejection) = (proven.chain, proven.decoded, nil)
        case .failure(let rejection): (chain, payload, self.rejection) = (nil, claim.payload, rejection)
        }
    }

    /// Whether the chain ends at Apple's root.
    package var isSignedByApple: Bool { chain?.root.sha256 == TrustStore.appleRootDigest }
}

/// Unverified contents of a payload, used to choose how to verify and display it.
private struct UnverifiedContents {
    package let payload: [UInt8]?
    package let certificates: [Certificate]
    private let root: JSONValue?

    package init(_ jws: [UInt8]) {
        let parts = CompactJWS(jws[...])
        let document = parts.flatMap { Base64.decode($0.payload, .url) }.flatMap { try? JSONDocument($0) }
        root = document?.root
        payload = document.map { Array($0.root.rawBytes) }
        let header = parts.flatMap { Base64.decode($0.header, .url) }.flatMap { try? JSONDocument($0) }
        certificates = (header?.root["x5c"]?.elements ?? []).compactMap { element in
            element.unescapedBytes.flatMap { Base64.decode($0[...], .standard) }.flatMap { try? Certificate(der: $0) }
        }
    }

    package var kind: Proof.Kind {
        if root?["notificationType"] != nil { return .notification }
        if root?["receiptType"] != nil || root?["originalApplicationVersion"] != nil { return .appTransaction }
        if root?["transactionId"] != nil { return .transaction }
        if root?["userLocale"] != nil { return .realtimeRequest }
        return root?["autoRenewProductId"] != nil || root?["autoRenewStatus"] != nil ? .renewalInfo : .notification
    }

    /// Accepts the payload's own app where the identity leaves it open.
    package func registry(for identity: Proof.Identity) -> AppRegistry {
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
