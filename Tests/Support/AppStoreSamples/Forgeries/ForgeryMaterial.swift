import AppStore
import Development
import Foundation
import Signatures

/// Keys, certificates and payloads from which genuine and forged texts are made.
public struct ForgeryMaterial: Sendable {
    /// Our app of both environments.
    public static let bundleId = "com.example.reader"
    /// Our app that accepts production only; its Apple id is 77.
    public static let productionOnly = "com.example.production"
    /// Apple's number of the first app.
    public static let appAppleId: Int64 = 1_234_567_890

    /// The time around which everything is dated.
    public let now: Date
    /// Trusted.
    public let authority: DevelopmentAuthority
    /// Looks the same and is not.
    public let stranger: DevelopmentAuthority
    let signer: PayloadSigner

    /// New keys and certificates.
    public init(now: Date) throws {
        self.now = now
        authority = try DevelopmentAuthority(now: now)
        stranger = try DevelopmentAuthority(now: now)
        signer = PayloadSigner(authority: authority)
    }

    /// Trusts the authority's root.
    public func trust() throws -> TrustStore { TrustStore(roots: [try Certificate(der: authority.root)]) }

    /// Both apps.
    public var registry: AppRegistry {
        AppRegistry(apps: [
            AcceptedApp(bundleId: Self.bundleId, appAppleId: Self.appAppleId),
            AcceptedApp(bundleId: Self.productionOnly, appAppleId: 77, environments: [.production]),
        ])
    }

    /// A verifier that trusts the authority and knows both apps.
    public func verifier(policy: VerificationPolicy = VerificationPolicy()) throws -> SignedDataVerifier {
        SignedDataVerifier(trust: try trust(), apps: registry, policy: policy)
    }

    // MARK: Payloads

    /// A renewal of a monthly subscription, and what shall be different about it.
    public func transaction(
        _ change: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> JWSTransactionDecodedPayload {
        var payload = JWSTransactionDecodedPayload()
        payload.originalTransactionId = "2000000123456789"
        payload.transactionId = "2000000987654321"
        payload.webOrderLineItemId = "2000000000000042"
        payload.bundleId = Self.bundleId
        payload.productId = "com.example.reader.monthly"
        payload.subscriptionGroupIdentifier = "20000001"
        payload.purchaseDate = now.addingTimeInterval(-60)
        payload.originalPurchaseDate = now.addingTimeInterval(-86_400 * 31)
        payload.expiresDate = now.addingTimeInterval(86_400 * 30)
        payload.quantity = 1
        payload.type = .autoRenewableSubscription
        payload.appAccountToken = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
        payload.inAppOwnershipType = .purchased
        payload.signedDate = now.addingTimeInterval(-5)
        payload.environment = .production
        payload.storefront = "USA"
        payload.storefrontId = "143441"
        payload.transactionReason = .renewal
        payload.currency = "USD"
        payload.price = 9_990
        payload.appTransactionId = "704346128310203000"
        change(&payload)
        return payload
    }

    /// The renewal information that belongs to it.
    public func renewal(
        _ change: (inout JWSRenewalInfoDecodedPayload) -> Void = { _ in }
    ) -> JWSRenewalInfoDecodedPayload {
        var payload = JWSRenewalInfoDecodedPayload()
        payload.originalTransactionId = "2000000123456789"
        payload.autoRenewProductId = "com.example.reader.monthly"
        payload.productId = "com.example.reader.monthly"
        payload.autoRenewStatus = .on
        payload.signedDate = now.addingTimeInterval(-5)
        payload.environment = .production
        payload.recentSubscriptionStartDate = now.addingTimeInterval(-86_400 * 31)
        payload.renewalDate = now.addingTimeInterval(86_400 * 30)
        payload.renewalPrice = 9_990
        payload.currency = "USD"
        change(&payload)
        return payload
    }

    /// An envelope about our app in production, without anything signed inside.
    public func envelope(
        _ change: (inout ResponseBodyV2DecodedPayload) -> Void = { _ in }
    ) -> ResponseBodyV2DecodedPayload {
        var data = NotificationData()
        data.environment = .production
        data.appAppleId = Self.appAppleId
        data.bundleId = Self.bundleId
        data.bundleVersion = "1.0"
        data.status = .active
        var payload = ResponseBodyV2DecodedPayload()
        payload.notificationType = .didRenew
        payload.notificationUUID = "b5e0a6a0-6a3c-4a26-8dcb-5a2f66d6b3a5"
        payload.version = "2.0"
        payload.signedDate = now.addingTimeInterval(-1)
        payload.data = data
        change(&payload)
        return payload
    }

    /// An envelope with these inside, each signed genuinely.
    public func envelope(
        _ transaction: JWSTransactionDecodedPayload, _ renewal: JWSRenewalInfoDecodedPayload
    ) throws -> ResponseBodyV2DecodedPayload {
        var payload = envelope()
        payload.data?.signedTransactionInfo = try text(transaction)
        payload.data?.signedRenewalInfo = try text(renewal)
        return payload
    }

    // MARK: Signing

    /// Signed as the trusted authority's leaf signs.
    public func signed(_ payload: some Payload) throws -> [UInt8] { try signer.sign(payload.json) }

    /// The same for JSON in text.
    public func signed(json: String) throws -> [UInt8] { try signer.sign(Array(json.utf8)) }

    func text(_ payload: some Payload) throws -> String { String(decoding: try signed(payload), as: UTF8.self) }

    /// The envelope's JSON as text, for changes that typed payloads cannot make.
    func json(_ payload: some Payload) -> String { String(decoding: payload.json, as: UTF8.self) }

    /// The envelope under a header of one's own, signed with the trusted leaf's key.
    func underHeader(_ json: String) throws -> [UInt8] { try underHeader(Array(json.utf8)) }

    func underHeader(_ json: [UInt8]) throws -> [UInt8] {
        try CompactJWS.signed(headerJSON: json, payloadJSON: envelope().json, key: authority.leafKey)
    }

    /// The envelope under three certificates of one's own.
    func underChain(_ chain: [[UInt8]], key: P256PrivateKey, payload: ResponseBodyV2DecodedPayload? = nil) throws
        -> [UInt8]
    {
        let header = CompactJWS.headerJSON(x5c: chain.map { Data($0).base64EncodedString() })
        return try CompactJWS.signed(headerJSON: header, payloadJSON: (payload ?? envelope()).json, key: key)
    }

    // MARK: Certificates

    static let day = 86_400.0

    var intermediateProfile: CertificateProfile {
        .intermediate(
            notBefore: now.addingTimeInterval(-2000 * Self.day), notAfter: now.addingTimeInterval(2000 * Self.day))
    }

    var leafProfile: CertificateProfile {
        .leaf(notBefore: now.addingTimeInterval(-401 * Self.day), notAfter: now.addingTimeInterval(401 * Self.day))
    }

    /// The envelope under a chain to the trusted root in which one thing is different.
    func underTrustedRoot(
        payload: ResponseBodyV2DecodedPayload? = nil,
        intermediate changeIntermediate: (inout CertificateProfile) -> Void = { _ in },
        leaf changeLeaf: (inout CertificateProfile) -> Void = { _ in }
    ) throws -> [UInt8] {
        var intermediateProfile = intermediateProfile
        changeIntermediate(&intermediateProfile)
        var leafProfile = leafProfile
        changeLeaf(&leafProfile)
        let intermediate = try authority.rootIssuer.issueAuthority(intermediateProfile, for: .generate(.p384))
        let key = try P256PrivateKey.generate()
        let leaf = try intermediate.issue(leafProfile, for: IssuingKey(key))
        return try underChain(
            [leaf.der, intermediate.certificate.der, authority.root], key: key, payload: payload)
    }
}
