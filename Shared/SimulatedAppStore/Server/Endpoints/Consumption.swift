import Contracts
import Foundation

/// Send Consumption Information, both versions: Apple does not ask again about this transaction.
extension StoreAPI {
    private static let deliveryStatuses: Set = [
        "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM", "UNDELIVERED_SERVER_OUTAGE",
        "UNDELIVERED_OTHER",
    ]
    private static let refundPreferences: Set = ["DECLINE", "GRANT_FULL", "GRANT_PRORATED"]

    /// Every combination that Apple documents as rejected.
    func sendConsumption(_ call: APICall) throws -> APIAnswer {
        let json = try call.json()
        guard json["customerConsented"]?.bool == true else { throw APIFault(4_000_035) }
        guard json["sampleContentProvided"]?.bool != nil else { throw APIFault(4_000_041) }
        guard let status = json["deliveryStatus"]?.string, Self.deliveryStatuses.contains(status) else {
            throw APIFault(4_000_036)
        }
        let preference = try json["refundPreference"].flatMap { $0.isNull ? nil : $0 }.map { value in
            guard let text = value.string, Self.refundPreferences.contains(text) else { throw APIFault(4_000_044) }
            return text
        }
        let percentage = try json["consumptionPercentage"].flatMap { $0.isNull ? nil : $0 }.map { value in
            guard let number = value.int64, (0...100_000).contains(number) else {
                throw APIFault(4_000_000, "Invalid request. The consumption percentage field is invalid.")
            }
            return number
        }
        let (subscriber, purchase) = try askedAbout(call)
        guard purchase.commerce == nil else { throw APIFault(4_000_047) }
        let isAutoRenewable = purchase.product.kind == .autoRenewable
        if percentage != nil, isAutoRenewable {
            throw APIFault(
                4_000_000,
                "Invalid request. The consumption percentage isn't supported for auto-renewable subscriptions.")
        }
        if let percentage, percentage != 0, status != "DELIVERED" {
            throw APIFault(4_000_000, "Invalid request. The consumption percentage must be 0 for undelivered content.")
        }
        if preference == "GRANT_PRORATED", !isAutoRenewable {
            guard let percentage, percentage > 0, percentage < 100_000 else { throw APIFault(4_000_044) }
        }
        return try take(call, of: subscriber)
    }

    /// The whole numbers of version 1 with Apple's greatest value and error.
    private static let numbers: [(field: String, greatest: Int64, code: Int64)] = [
        ("accountTenure", 7, 4_000_032), ("consumptionStatus", 3, 4_000_034), ("deliveryStatus", 5, 4_000_036),
        ("lifetimeDollarsPurchased", 7, 4_000_037), ("lifetimeDollarsRefunded", 7, 4_000_038),
        ("platform", 2, 4_000_039), ("playTime", 7, 4_000_040), ("userStatus", 4, 4_000_042),
    ]

    /// All fields but the preference are required; 0 and the empty text mean that nothing is told.
    func sendConsumptionVersion1(_ call: APICall) throws -> APIAnswer {
        let json = try call.json()
        guard json["customerConsented"]?.bool == true else { throw APIFault(4_000_035) }
        guard json["sampleContentProvided"]?.bool != nil else { throw APIFault(4_000_041) }
        guard let token = json["appAccountToken"]?.string, token.isEmpty || UUID(uuidString: token) != nil else {
            throw APIFault(4_000_033)
        }
        for (field, greatest, code) in Self.numbers {
            guard let number = json[field]?.int64, (0...greatest).contains(number) else { throw APIFault(code) }
        }
        if let preference = json["refundPreference"], !preference.isNull {
            guard let number = preference.int64, (0...3).contains(number) else { throw APIFault(4_000_044) }
        }
        return try take(call, of: try askedAbout(call).0)
    }

    private func askedAbout(_ call: APICall) throws -> (Subscriber, Purchase) {
        let subscriber = try subscriber(in: call)
        guard let transaction = subscriber.transaction(call.id) else { throw APIFault(4_040_010) }
        return (subscriber, transaction.purchase)
    }

    private func take(_ call: APICall, of subscriber: Subscriber) throws -> APIAnswer {
        let date = present()
        try answers.add(
            RunRecord.RefundAnswer(
                environment: call.app.environment, bundleId: call.app.bundleId, transactionId: call.id,
                at: date.milliseconds, version: call.endpoint == .sendConsumption ? 2 : 1,
                body: String(decoding: call.request.body, as: UTF8.self)))
        deliveryService.withOutbox {
            $0.answerConsumptionRequest(
                of: call.id, originalTransactionId: subscriber.originalTransactionId, at: date)
        }
        return APIAnswer(status: 202)
    }
}
