import struct Foundation.Date

/// What Advanced Commerce adds to a transaction: the developer's own items under one product.
struct Commerce: Sendable, Equatable {
    /// What the customer reads.
    struct Label: Sendable, Equatable {
        var name = "Everything"
        var description = "All titles"

        fileprivate func renamed(_ naming: CommerceRequest.Naming) -> Label {
            Label(name: naming.name ?? name, description: naming.description ?? description)
        }
    }

    /// What the customer reads now, and from the next period on.
    struct Labels: Sendable, Equatable {
        var now = Label()
        /// Where it is another.
        var next: Label?

        /// From the next period on.
        var renewed: Labels { Labels(now: next ?? now) }

        fileprivate mutating func rename(_ naming: CommerceRequest.Naming) {
            if naming.isLater {
                next = (next ?? now).renamed(naming)
            } else {
                now = now.renamed(naming)
                next = next?.renamed(naming)
            }
        }
    }

    /// One item.
    struct Item: Sendable, Equatable {
        /// The developer's id of it.
        var sku: String
        /// Whether the simulator named it.
        var isOwn = false
        /// From the next period on, where it is another.
        var nextSKU: String?
        var labels = Labels()
        /// Without an offer.
        var price: Int64
        /// From the next period on, where it is another.
        var nextPrice: Int64?
        var refunds: [Refund] = []
        var revokedAt: Date?

        /// As it is from the next period on.
        var renewed: Item {
            Item(sku: nextSKU ?? sku, isOwn: isOwn, labels: labels.renewed, price: nextPrice ?? price)
        }
    }

    /// A refund of an item.
    struct Refund: Sendable, Equatable {
        /// Thousandths of a unit of the storefront's currency.
        var amount: Int64
        var date: Date
        /// Apple's spelling.
        var reason: String
        /// `FULL`, `PRORATED` or `CUSTOM`.
        var type: String
    }

    /// At least one.
    var items: [Item]
    /// Of the whole.
    var labels = Labels()
    /// Apple's category for taxes.
    var taxCode = "C003-00-2"

    /// The whole purchase as one item.
    /// - Parameter renewal: of its subscription, where a price may be scheduled.
    init(of purchase: Purchase, renewal: Renewal? = nil) {
        let price = purchase.offer == nil ? purchase.price : purchase.product.price
        let next = renewal?.nextProduct == purchase.product ? renewal?.nextPrice : nil
        items = [
            Item(sku: purchase.product.suffix, isOwn: true, price: price, nextPrice: next == price ? nil : next)
        ]
    }

    /// The items of the next period: those that were not revoked, at their next prices and under their next names.
    var renewed: Commerce {
        var renewed = self
        renewed.labels = labels.renewed
        renewed.items = items.filter { $0.revokedAt == nil }.map(\.renewed)
        return renewed.items.isEmpty ? self : renewed
    }

    /// What the next period costs without an offer.
    var nextPrice: Int64 { renewed.items.reduce(0) { $0 + $1.price } }

    /// The price of the first item rises with the next period.
    mutating func raisePrice() { items[0].nextPrice = (items[0].nextPrice ?? items[0].price) + 1_000 }

    /// No price changes with the next period.
    mutating func keepPrices() {
        for place in items.indices { items[place].nextPrice = nil }
    }

    /// Refunds everything that stands.
    mutating func refund(reason: String, at date: Date) {
        for place in items.indices where items[place].revokedAt == nil {
            items[place].refunds.append(
                Refund(amount: items[place].price, date: date, reason: reason, type: "FULL"))
            items[place].revokedAt = date
        }
    }

    /// Takes back the refunds that revoked items at a moment.
    mutating func reverseRefund(at date: Date) {
        for place in items.indices where items[place].revokedAt == date {
            items[place].refunds.removeAll { $0.date == date }
            items[place].revokedAt = nil
        }
    }

    /// Gives the whole or an item other names, or the item another SKU.
    /// - Returns: false where it has no such item, or another one has the new SKU.
    mutating func rename(_ naming: CommerceRequest.Naming) -> Bool {
        guard let sku = naming.sku else {
            labels.rename(naming)
            return true
        }
        guard let place = place(of: sku) else { return false }
        items[place].labels.rename(naming)
        guard let newSKU = naming.newSKU, newSKU != sku else { return true }
        guard !items.contains(where: { newSKU == $0.sku || newSKU == $0.nextSKU }) else { return false }
        if naming.isLater { items[place].nextSKU = newSKU } else { items[place].sku = newSKU }
        return true
    }

    /// The item with this SKU. The simulator takes any purchase for one of Advanced Commerce, whose item it named itself: one
    /// that the developer names otherwise takes that one's place.
    mutating func place(of sku: String) -> Int? {
        if let place = items.firstIndex(where: { $0.sku == sku }) { return place }
        guard let place = items.indices.first(where: { items[$0].isOwn }) else { return nil }
        items[place].sku = sku
        items[place].isOwn = false
        return place
    }
}
