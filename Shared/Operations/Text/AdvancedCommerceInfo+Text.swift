import AppStore
import Postgres
import Storage
import StrictJSON
import Subscriptions

extension AdvancedCommerceInfo {
    /// What a decoded payload of the ledger has of Advanced Commerce: of its transaction, else of its renewal information.
    /// - Parameter decoded: JSON of a notification with the signed objects in their places, or of a transaction alone.
    package init?(decoded: String?) {
        guard let decoded, let root = try? JSONDocument(Array(decoded.utf8)).root else { return nil }
        let places = [
            root["data"]?["signedTransactionInfo"], root["data"]?["signedRenewalInfo"], root,
        ].compactMap { $0?["advancedCommerceInfo"] }
        guard let json = places.first, let info = try? AdvancedCommerceInfo(json: json) else { return nil }
        self = info
    }

    /// What the newest notification of a purchase has of Advanced Commerce, while the ledger keeps its payload; else empty.
    package static func lines(of subscription: Subscription, on connection: PostgresConnection) async throws -> [String]
    {
        let decoded = try await NotificationStore(connection).decoded(subscription.version.notificationUUID)
        let currency = subscription.transaction?.currency ?? subscription.renewal?.currency
        return AdvancedCommerceInfo(decoded: decoded)?.lines(currency) ?? []
    }

    /// One line for each item, and one about the whole.
    /// - Parameter currency: of the prices.
    package func lines(_ currency: String?) -> [String] {
        let name = descriptors?.displayName.map { "“\($0)”" }
        let tax = estimatedTax.map { "tax \(Commitment.money($0, currency))" }
        let net = taxExclusivePrice.map { "without tax \(Commitment.money($0, currency))" }
        let whole = [
            name, period.map { "period \($0)" }, taxCode.map { "tax code \($0)" }, net, tax,
            taxRate.map { "tax rate \($0)" }, requestReferenceId.map { "request \($0)" },
        ].compactMap(\.self)
        return (whole.isEmpty ? [] : [whole.joined(separator: ", ")]) + (items ?? []).map { $0.line(currency) }
    }
}

extension AdvancedCommerceInfo.Item {
    fileprivate func line(_ currency: String?) -> String {
        let refunded = (refunds ?? []).map { refund in
            "refunded \(refund.refundAmount.map { Commitment.money($0, currency) } ?? "in part")"
                + "\(refund.refundReason.map { " (\($0))" } ?? "")"
        }
        let increase = priceIncreaseInfo.map { info in
            "price increase to \(info.price.map { Commitment.money($0, currency) } ?? "?") \(info.status ?? "")"
        }
        let parts: [String?] = [
            displayName.map { "“\($0)”" }, price.map { Commitment.money($0, currency) },
            revocationDate.map { "revoked \($0.text)" }, increase,
        ]
        return "item \(sku ?? "?"): " + (parts.compactMap(\.self) + refunded).joined(separator: ", ")
    }
}
