import AppStore
import Postgres
import Storage
import StrictJSON
import Subscriptions

extension AdvancedCommerceInfo {
    /// What a decoded payload of the ledger has of Advanced Commerce: its transaction, and what of its renewal information differs. Only
    /// that one has price increases and the consistency token.
    /// - Parameter decoded: JSON of a notification with the signed objects in their places, or of one of them alone.
    package static func lines(decoded: String?) -> [String] { lines(transaction: decoded, renewal: decoded) }

    /// What the current transaction of a purchase and its newest renewal information have of Advanced Commerce, while the ledger keeps the
    /// payloads; else empty. They may have come apart: the newest notification of all need not hold either.
    package static func lines(of subscription: Subscription, on connection: PostgresConnection) async throws -> [String]
    {
        let notifications = NotificationStore(connection)
        let (bought, renewing) = (
            subscription.transactionVersion?.notificationUUID, subscription.renewalVersion?.notificationUUID
        )
        var transaction: String?
        if let bought { transaction = try await notifications.decoded(bought) }
        guard let renewing, renewing != bought else {
            return lines(transaction: transaction, renewal: renewing.flatMap { _ in transaction })
        }
        return lines(transaction: transaction, renewal: try await notifications.decoded(renewing))
    }

    private static func lines(transaction: String?, renewal: String?) -> [String] {
        let bought = part(of: transaction, "signedTransactionInfo")
        let next = part(of: renewal, "signedRenewalInfo").filter { !bought.contains($0) }
        return bought + next.map { "at renewal: \($0)" }
    }

    /// - Parameter name: of the signed object within a notification.
    private static func part(of decoded: String?, _ name: String) -> [String] {
        guard let decoded, let root = try? JSONDocument(Array(decoded.utf8)).root,
            let part = root["data"].map({ $0[name] }) ?? root,
            let info = part["advancedCommerceInfo"].flatMap({ try? AdvancedCommerceInfo(json: $0) })
        else { return [] }
        return info.lines(part["currency"]?.string)
    }

    /// One line for each item, and one about the whole.
    /// - Parameter currency: of the prices.
    private func lines(_ currency: String?) -> [String] {
        let name = descriptors?.displayName.map { "“\($0)”" }
        let tax = estimatedTax.map { "tax \(Commitment.money($0, currency))" }
        let net = taxExclusivePrice.map { "without tax \(Commitment.money($0, currency))" }
        let whole = [
            name, period.map { "period \($0)" }, taxCode.map { "tax code \($0)" }, net, tax,
            taxRate.map { "tax rate \($0)" }, requestReferenceId.map { "request \($0)" },
            consistencyToken.map { "consistency token \($0)" },
        ].compactMap(\.self)
        return (whole.isEmpty ? [] : [whole.joined(separator: ", ")]) + (items ?? []).map { $0.line(currency) }
    }
}

extension AdvancedCommerceInfo.Item {
    fileprivate func line(_ currency: String?) -> String {
        let refunded = (refunds ?? []).map { refund in
            let why = [refund.refundType, refund.refundReason].compactMap(\.self).joined(separator: ", ")
            return "refunded" + (refund.refundAmount.map { " \(Commitment.money($0, currency))" } ?? "")
                + (refund.refundDate.map { " on \($0.text)" } ?? "") + (why.isEmpty ? "" : " (\(why))")
        }
        let increase = priceIncreaseInfo.map { info in
            let dependent = info.dependentSKUs.flatMap { $0.isEmpty ? nil : " with \($0.joined(separator: ", "))" }
            return "price increase to \(info.price.map { Commitment.money($0, currency) } ?? "?") \(info.status ?? "")"
                + (dependent ?? "")
        }
        let parts: [String?] = [
            displayName.map { "“\($0)”" }, price.map { Commitment.money($0, currency) }, offerText(currency),
            revocationDate.map { "revoked \($0.text)" }, increase,
        ]
        return "item \(sku ?? "?"): " + (parts.compactMap(\.self) + refunded).joined(separator: ", ")
    }

    /// Such as `offer 3 × P1M for 1.990 EUR (ACQUISITION)`.
    private func offerText(_ currency: String?) -> String? {
        guard let offer, let root = try? JSONDocument(offer.bytes).root, root.kind == .object else { return nil }
        let length = [root["periodCount"]?.int64.map { "\($0) ×" }, root["period"]?.string].compactMap(\.self)
        let price = root["price"]?.int64.map { "for \(Commitment.money($0, currency))" }
        let reason = root["reason"]?.string.map { "(\($0))" }
        return (["offer"] + length + [price, reason].compactMap(\.self)).joined(separator: " ")
    }
}
