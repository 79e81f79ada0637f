import AppStore
import Contracts
import Signatures

/// Writes and signs notifications as the App Store does.
struct LetterWriter: Sendable {
    private let signer: PayloadSigner
    /// Looks like Apple's to everyone who does not check the root.
    private let impostor: PayloadSigner
    /// Its header says that nothing is signed.
    private let denier: PayloadSigner

    /// - Parameters:
    ///   - authority: the one to be believed.
    ///   - impostor: any other.
    init(authority: DevelopmentAuthority, impostor: DevelopmentAuthority) {
        signer = PayloadSigner(authority: authority)
        self.impostor = PayloadSigner(authority: impostor)
        denier = PayloadSigner(
            headerJSON: CompactJWS.headerJSON(x5c: authority.x5c, algorithm: "none"), key: authority.leafKey)
    }

    /// - Throws: if OpenSSL cannot sign.
    func write(_ draft: Draft) throws -> Letter {
        let payload = try draft.forgery.map { try forged(draft.notice, $0) } ?? seal(draft.notice, with: signer)
        return Letter(
            app: draft.notice.app, entry: Self.entry(for: draft), payload: payload,
            isToBeRepeated: draft.isToBeRepeated)
    }

    /// The compact JWS of a genuine notification.
    /// - Parameter omitsSignedDate: Apple's oldest notifications had none.
    func sign(_ notice: Notice, omitsSignedDate: Bool = false) throws -> [UInt8] {
        try seal(notice, with: signer, omitsSignedDate: omitsSignedDate).jws
    }

    /// The compact JWS of a notification that must be refused.
    func forge(_ notice: Notice, _ forgery: Forgery) throws -> [UInt8] { try forged(notice, forgery).jws }

    /// The compact JWS of what an answer of Apple's API says.
    func sign(_ payload: some Payload) throws -> [UInt8] { try signer.sign(payload.json) }

    private func forged(_ notice: Notice, _ forgery: Forgery) throws -> SealedPayload {
        switch forgery {
        case .tampered:
            return try tampered(notice)
        case .wrongRoot:
            return try seal(notice, with: impostor)
        case .unsigned:
            return try seal(notice, with: denier)
        case .strangersApp:
            var notice = notice
            notice.app.bundleId = "com.example.stranger"
            return try seal(notice, with: signer)
        case .foreignTransaction:
            var notice = notice
            notice.purchase?.originalTransactionId += "1"
            return try seal(notice, with: signer, renewalOf: notice.purchase.map(Self.someoneElses))
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
        _ notice: Notice, with signer: PayloadSigner, renewalOf other: Purchase? = nil, omitsSignedDate: Bool = false
    ) throws -> SealedPayload {
        var transaction: [UInt8]?
        var renewal: [UInt8]?
        if let purchase = notice.purchase {
            let signed = try signer.sign(Wording.transaction(purchase, in: notice).json)
            transaction = SealedPayload.shortened(signed, by: signer)
            if let facts = notice.renewal {
                let signed = try signer.sign(Wording.renewal(facts, of: other ?? purchase, in: notice).json)
                renewal = SealedPayload.shortened(signed, by: signer)
            }
        }
        var payload = Wording.notification(
            notice, signedTransactionInfo: transaction, signedRenewalInfo: renewal)
        if omitsSignedDate { payload.signedDate = nil }
        return try SealedPayload(claims: payload.json, signer: signer)
    }

    private static func someoneElses(_ purchase: Purchase) -> Purchase {
        var purchase = purchase
        purchase.originalTransactionId += "2"
        return purchase
    }

    /// Other claims under the signature of the true ones: still good JSON, so that it can be told whose it was.
    private func tampered(_ notice: Notice) throws -> SealedPayload {
        var changed = notice
        changed.signedDate = notice.signedDate.adding(0.001)
        let original = try seal(notice, with: signer)
        return try seal(changed, with: signer).bearingSignature(of: original)
    }

    /// What the book says of it.
    static func entry(for draft: Draft) -> SimulatorBook.Notification {
        let notice = draft.notice
        return SimulatorBook.Notification(
            uuid: notice.uuid.uuidString.lowercased(), notificationType: notice.announcement.type.rawValue,
            subtype: notice.announcement.subtype?.rawValue, environment: notice.app.environment,
            bundleId: notice.app.bundleId,
            originalTransactionId: notice.purchase?.originalTransactionId,
            transactionId: notice.purchase?.transactionId, signedDate: notice.signedDate.milliseconds,
            forgery: draft.forgery?.reason.rawValue, facts: notice.facts)
    }
}

extension Notice {
    /// What must be believed once this is the newest news, in the words of the book.
    var facts: SimulatorBook.Facts? {
        guard let purchase else { return nil }
        return SimulatorBook.Facts(
            status: status, productId: purchase.product.id(in: app.bundleId),
            purchaseDate: purchase.purchaseDate.milliseconds, expiresDate: purchase.expiresDate?.milliseconds,
            revocationDate: purchase.revocationDate?.milliseconds, revocationReason: purchase.revocationReason,
            appAccountToken: customer?.appAccountToken?.uuidString.lowercased(),
            autoRenewStatus: renewal.map { $0.willRenew ? 1 : 0 },
            autoRenewProductId: renewal?.nextProduct.id(in: app.bundleId),
            isInBillingRetryPeriod: renewal?.spokenBillingRetry,
            gracePeriodExpiresDate: renewal?.graceExpiresDate?.milliseconds,
            expirationIntent: renewal?.expirationIntent)
    }
}
