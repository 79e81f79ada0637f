import AppStore
import Contracts
import Development
import Signatures

import struct Foundation.Date
import struct Foundation.UUID

/// Builds and signs notifications as the App Store does.
struct NotificationSigner: Sendable {
    private let signer: PayloadSigner
    /// Signs with a younger intermediate and leaf what is dated from a day on: Apple's certificates change every other year or so,
    /// and a receiver gets both.
    private let successor: (signer: PayloadSigner, from: Date)?
    /// Looks like Apple's unless the root is checked.
    private let impostor: PayloadSigner
    /// Its header says `none`.
    private let denier: PayloadSigner

    /// - Parameters:
    ///   - authority: the one that a verifier trusts.
    ///   - impostor: any other.
    ///   - successor: the same root with a new intermediate and leaf, and from when it signs; nil where nothing changes.
    init(
        authority: DevelopmentAuthority, impostor: DevelopmentAuthority,
        successor: (authority: DevelopmentAuthority, from: Date)? = nil
    ) {
        self.successor = successor.map { (PayloadSigner(authority: $0.authority), $0.from) }
        signer = PayloadSigner(authority: authority)
        self.impostor = PayloadSigner(authority: impostor)
        denier = PayloadSigner(
            headerJSON: CompactJWS.headerJSON(x5c: authority.x5c, algorithm: "none"), key: authority.leafKey)
    }

    /// - Throws: if OpenSSL cannot sign.
    func write(_ pending: PendingNotification) throws -> SignedNotification {
        let payload =
            try pending.invalidVariant.map { try forged(pending.event, $0) }
            ?? seal(pending.event, with: signer(at: pending.event.signedDate))
        return SignedNotification(
            app: pending.event.app, entry: Self.entry(for: pending), payload: payload,
            isToBeRepeated: pending.isToBeRepeated)
    }

    /// The compact JWS of a genuine notification.
    /// - Parameter omitsSignedDate: Apple's oldest notifications had none.
    func sign(_ event: EventPayload, omitsSignedDate: Bool = false) throws -> [UInt8] {
        try seal(event, with: signer(at: event.signedDate), omitsSignedDate: omitsSignedDate).jws
    }

    private func signer(at date: Date) -> PayloadSigner {
        if let successor, date >= successor.from { successor.signer } else { signer }
    }

    /// The compact JWS of a notification that must be rejected.
    func forge(_ event: EventPayload, _ invalidVariant: InvalidVariant) throws -> [UInt8] {
        try forged(event, invalidVariant).jws
    }

    /// The compact JWS of a transaction, as StoreKit gives it to the app.
    /// - Parameter device: the one that it is marked for; nil for none.
    func sign(_ purchase: Purchase, in event: EventPayload, for device: UUID? = nil) throws -> [UInt8] {
        let json = PayloadBuilder.transaction(purchase, in: event).json
        return try signer(at: event.signedDate).sign(device.map { PayloadBuilder.marked(json, for: $0) } ?? json)
    }

    /// The compact JWS of a signed object in an answer of the API.
    /// - Parameter device: the one that it is marked for, where StoreKit hands it over.
    func sign(_ payload: some Payload, for device: UUID? = nil) throws -> [UInt8] {
        let json = payload.json
        return try signer.sign(device.map { PayloadBuilder.marked(json, for: $0) } ?? json)
    }

    private func forged(_ event: EventPayload, _ invalidVariant: InvalidVariant) throws -> SealedPayload {
        switch invalidVariant {
        case .tampered:
            return try tampered(event)
        case .wrongRoot:
            return try seal(event, with: impostor)
        case .unsigned:
            return try seal(event, with: denier)
        case .strangersApp:
            var event = event
            event.app.bundleId = "com.example.stranger"
            return try seal(event, with: signer)
        case .foreignTransaction:
            var event = event
            event.purchase?.originalTransactionId += "1"
            return try seal(event, with: signer, renewalOf: event.purchase.map(Self.someoneElses))
        }
    }

    /// `{"signedPayload":"…"}`.
    static func body(signedPayload jws: [UInt8]) -> [UInt8] {
        var body: [UInt8] = []
        body.reserveCapacity(jws.count + 24)
        body += Array(#"{"signedPayload":""#.utf8)
        body += jws
        body += Array(#""}"#.utf8)
        return body
    }

    private func seal(
        _ event: EventPayload, with signer: PayloadSigner, renewalOf other: Purchase? = nil,
        omitsSignedDate: Bool = false
    ) throws -> SealedPayload {
        var transaction: [UInt8]?
        var renewal: [UInt8]?
        if let purchase = event.shownPurchase {
            let signed = try signer.sign(PayloadBuilder.transaction(purchase, in: event).json)
            transaction = SealedPayload.shortened(signed, by: signer)
            if let facts = event.renewal {
                let signed = try signer.sign(PayloadBuilder.renewal(facts, of: other ?? purchase, in: event).json)
                renewal = SealedPayload.shortened(signed, by: signer)
            }
        }
        var appTransaction: [UInt8]?
        if event.object == .appData {
            let signed = try signer.sign(PayloadBuilder.appTransaction(of: event).json)
            appTransaction = SealedPayload.shortened(signed, by: signer)
        }
        var payload = PayloadBuilder.notification(
            event, signedTransactionInfo: transaction, signedRenewalInfo: renewal,
            signedAppTransactionInfo: appTransaction)
        if omitsSignedDate { payload.signedDate = nil }
        var claims = payload.json
        if case .other(let name, let members) = event.object {
            claims = PayloadBuilder.adding(object: name, members: members, to: claims, of: event)
        }
        return try SealedPayload(claims: claims, signer: signer)
    }

    private static func someoneElses(_ purchase: Purchase) -> Purchase {
        var purchase = purchase
        purchase.originalTransactionId += "2"
        return purchase
    }

    /// Other claims under the signature of the original ones, still valid JSON with the app and the uuid.
    private func tampered(_ event: EventPayload) throws -> SealedPayload {
        var changed = event
        changed.signedDate = event.signedDate.adding(0.001)
        let original = try seal(event, with: signer)
        return try seal(changed, with: signer).bearingSignature(of: original)
    }

    /// Its entry in the record.
    static func entry(for pending: PendingNotification) -> RunRecord.Notification {
        let event = pending.event
        return RunRecord.Notification(
            uuid: event.uuid.uuidString.lowercased(), notificationType: event.kind.type.rawValue,
            subtype: event.kind.subtype?.rawValue, environment: event.app.environment,
            bundleId: event.app.bundleId,
            originalTransactionId: event.purchase?.originalTransactionId,
            transactionId: event.shownPurchase?.transactionId, signedDate: event.signedDate.milliseconds,
            expectedRejection: pending.invalidVariant?.reason.rawValue, facts: event.facts,
            productType: event.shownPurchase?.product.kind.type.rawValue,
            access: pending.invalidVariant == nil ? event.recordedAccess : nil)
    }
}

extension EventPayload {
    fileprivate var recordedAccess: [RunRecord.AccessPeriod]? {
        access?.map {
            RunRecord.AccessPeriod(
                productId: $0.product.id(in: app.bundleId), startsAt: $0.start.milliseconds,
                endsAt: $0.end?.milliseconds, isGrace: $0.transactionId == nil)
        }
    }

    /// The purchase whose transaction it holds.
    var shownPurchase: Purchase? { object == .data ? purchase : nil }

    /// What it says of its purchase, in the form of the record.
    var facts: RunRecord.Facts? {
        guard let purchase = shownPurchase else { return nil }
        return RunRecord.Facts(
            status: status, productId: purchase.product.id(in: app.bundleId),
            purchaseDate: purchase.purchaseDate.milliseconds, expiresDate: purchase.expiresDate?.milliseconds,
            revocationDate: purchase.revocation?.date.milliseconds, revocationReason: purchase.revocation?.reason,
            appAccountToken: customer?.appAccountToken?.uuidString.lowercased(),
            autoRenewStatus: renewal.map { $0.willRenew ? 1 : 0 },
            autoRenewProductId: renewal?.nextProduct.id(in: app.bundleId),
            isInBillingRetryPeriod: renewal?.spokenBillingRetry,
            gracePeriodExpiresDate: renewal?.graceExpiresDate?.milliseconds,
            expirationIntent: renewal?.expirationIntent)
    }
}
