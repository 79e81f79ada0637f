import Foundation
import ServerAPI

extension StoreAPI {
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
