import struct Foundation.Date

/// A developer's request by the Advanced Commerce API, without those that Apple has for every subscription.
enum CommerceRequest: Sendable {
    /// The price of an item from the next period on.
    struct Price: Sendable {
        var sku: String
        var price: Int64
    }

    /// Another name, description or SKU.
    struct Naming: Sendable {
        /// The item's; nil: it is about the whole.
        var sku: String?
        var newSKU: String?
        var name: String?
        var description: String?
        /// Whether it is so from the next period on, not at once.
        var isLater = false
    }

    /// The refund of an item.
    struct ItemRefund: Sendable {
        var sku: String
        /// Apple's spelling.
        var reason: String
        /// `FULL`, `PRORATED` or `CUSTOM`.
        var type: String
        /// Of a custom refund.
        var amount: Int64?
        /// Whether the customer loses the item.
        var revokes: Bool
    }

    case metadata([Naming], taxCode: String?)
    /// With the names of the whole and of the items.
    case migration([Naming], taxCode: String?)
    case prices([Price])
    case refund([ItemRefund])
    /// Refunds all items of a transaction and ends the subscription.
    case revocation(reason: String, type: String)
    case declinedRefund

    /// What Apple announces.
    var kind: NotificationKind {
        switch self {
        case .metadata: NotificationKind(.metadataUpdate)
        case .migration: NotificationKind(.migration)
        case .prices: NotificationKind(.priceChange)
        case .refund, .revocation: .refund
        case .declinedRefund: NotificationKind(.refundDeclined)
        }
    }

    /// Changes a transaction, and the renewal of its subscription.
    /// - Returns: false where it names an item that the transaction has not; nothing changes then.
    func change(_ purchase: inout Purchase, _ renewal: inout Renewal?, at date: Date) -> Bool {
        var commerce = purchase.commerce ?? Commerce(of: purchase, renewal: renewal)
        switch self {
        case .declinedRefund: break
        case .metadata(let namings, let taxCode):
            guard namings.allSatisfy({ commerce.rename($0) }) else { return false }
            commerce.taxCode = taxCode ?? commerce.taxCode
        case .migration(let namings, let taxCode):
            for naming in namings {
                if let sku = naming.sku, commerce.place(of: sku) == nil {
                    commerce.items.append(.init(sku: sku, price: 0))
                }
                guard commerce.rename(naming) else { return false }
            }
            commerce.taxCode = taxCode ?? commerce.taxCode
        case .prices(let prices):
            for price in prices {
                guard let place = commerce.place(of: price.sku) else { return false }
                commerce.items[place].nextPrice = price.price
            }
            renewal?.nextPrice = commerce.nextPrice
        case .refund(let refunds):
            for refund in refunds {
                guard let place = commerce.place(of: refund.sku) else { return false }
                commerce.items[place].refund(refund, of: purchase, at: date)
            }
            // The next period is without what was revoked; an older transaction says nothing of it.
            if refunds.contains(where: \.revokes), commerce.items.contains(where: { $0.revokedAt == nil }),
                renewal?.nextProduct == purchase.product, renewal?.date == purchase.expiresDate
            {
                renewal?.nextPrice = commerce.nextPrice
            }
        case .revocation(let reason, let type):
            for place in commerce.items.indices where commerce.items[place].revokedAt == nil {
                let refund = ItemRefund(
                    sku: commerce.items[place].sku, reason: reason, type: type, amount: nil, revokes: true)
                commerce.items[place].refund(refund, of: purchase, at: date)
            }
        }
        purchase.commerce = commerce
        if purchase.revocation == nil, commerce.items.allSatisfy({ $0.revokedAt != nil }) {
            let (paid, refunded) = (purchase.price, commerce.items.flatMap(\.refunds).reduce(0) { $0 + $1.amount })
            purchase.revocation = Purchase.Revocation(
                date: date, reason: 0, type: .refundFull,
                percentage: paid > 0 ? min(100_000, (refunded * 100_000 + paid / 2) / paid) : 100_000)
        }
        return true
    }
}

extension Commerce.Item {
    fileprivate mutating func refund(_ refund: CommerceRequest.ItemRefund, of purchase: Purchase, at date: Date) {
        let amount: Int64 =
            switch refund.type {
            case "PRORATED": Int64((Double(price) * purchase.remaining(at: date)).rounded())
            case "CUSTOM": min(refund.amount ?? price, price)
            default: price
            }
        refunds.append(Commerce.Refund(amount: amount, date: date, reason: refund.reason, type: refund.type))
        if refund.revokes { revokedAt = revokedAt ?? date }
    }
}

extension Purchase {
    /// The part of the period that is left.
    fileprivate func remaining(at date: Date) -> Double {
        guard let expiresDate, purchaseDate < expiresDate else { return 1 }
        return min(1, max(0, expiresDate.timeIntervalSince(date) / expiresDate.timeIntervalSince(purchaseDate)))
    }
}

extension SimulatedPurchase {
    /// Does what the developer asks for.
    /// - Returns: the payload that Apple would send; nil, and nothing changes, where a transaction or an item does not exist.
    mutating func apply(
        _ request: CommerceRequest, to transactionId: String, at date: Date, identities: inout Identities
    ) -> EventPayload? {
        guard let place = transactions.lastIndex(where: { $0.transactionId == transactionId }), date > now else {
            return nil
        }
        var changed = transactions[place]
        var next = renewal
        guard request.change(&changed, &next, at: date) else { return nil }
        let isRevoked = changed.revocation != transactions[place].revocation
        let booked = book
        transactions[place] = changed
        renewal = next
        if isRevoked { revoke(place) }
        return announce(
            request.kind, showing: transactionId, at: date, since: booked, isAccessChanged: isRevoked,
            identities: &identities)
    }

    /// All items of a transaction were refunded and revoked.
    private mutating func revoke(_ place: Int) {
        guard let revocation = transactions[place].revocation else { return }
        let id = transactions[place].transactionId
        book.refund(id, revocation)
        access.refund(id, at: revocation.date)
        guard place == transactions.count - 1 else { return }
        if case .grace = phase { access.end(at: revocation.date) }
        renewal?.willRenew = false
        refundRequest = nil
        phase = .revoked
    }
}
