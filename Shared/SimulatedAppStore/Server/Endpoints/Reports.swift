import AppStore
import Foundation

extension StoreAPI {
    private static let deliveryStatuses: Set = [
        "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM", "UNDELIVERED_SERVER_OUTAGE",
        "UNDELIVERED_OTHER",
    ]
    private static let refundPreferences: Set = ["DECLINE", "GRANT_FULL", "GRANT_PRORATED"]

    /// Send Consumption Information: Apple does not ask again about this transaction.
    func sendConsumption(_ call: APICall) throws -> APIAnswer {
        let json = try call.json()
        guard json["customerConsented"]?.bool == true else { throw APIFault(4_000_035) }
        guard json["sampleContentProvided"]?.bool != nil else { throw APIFault(4_000_041) }
        guard let status = json["deliveryStatus"]?.string, Self.deliveryStatuses.contains(status) else {
            throw APIFault(4_000_036)
        }
        if let preference = json["refundPreference"], !preference.isNull {
            guard let text = preference.string, Self.refundPreferences.contains(text) else {
                throw APIFault(4_000_044)
            }
        }
        if let percentage = json["consumptionPercentage"], !percentage.isNull {
            guard let number = percentage.int64, (0...100_000).contains(number) else { throw APIFault(4_000_000) }
        }
        let subscriber = try subscriber(in: call)
        deliveryService.withOutbox {
            $0.answerConsumptionRequest(
                of: call.id, originalTransactionId: subscriber.originalTransactionId)
        }
        return APIAnswer(status: 202)
    }

    /// Set App Account Token: for this transaction and those that will follow.
    func setAppAccountToken(_ call: APICall) throws -> APIAnswer {
        guard let token = try call.json()["appAccountToken"]?.string.flatMap(UUID.init(uuidString:)) else {
            throw APIFault(4_000_183)
        }
        let subscriber = try subscriber(in: call)
        let id = subscriber.originalTransactionId
        guard id == call.id else { throw APIFault(4_000_187) }
        guard subscriber.newest.customer?.ownership == .purchased else { throw APIFault(4_000_185) }
        historyStore.withHistory(of: call.app) { $0.assign(token, to: id) }
        deliveryService.withOutbox { $0.assign(token, to: id) }
        return APIAnswer(status: 200)
    }
}
