import Contracts
import Foundation
import StrictJSON

/// Endpoints that Apple does not have, `/simulator/…`: tests and developers control and inspect the simulator by them.
struct ServerControl: Sendable {
    /// Subscribers of one answer.
    private static let customerLimit = 1_000

    let historyStore: HistoryStore
    let deliveryService: DeliveryService
    let keys: KeyRing
    /// Nil where the keys were given on the command line, so that none can be added.
    let keyFiles: KeyFiles?
    let faults: FaultList
    /// Purchases by command.
    let purchases: PurchaseControl
    let now: @Sendable () -> Date

    func answer(to request: APIRequest) -> APIAnswer {
        do {
            switch (request.method, Array(request.path.dropFirst())) {
            case ("GET", ["progress"]): return progress()
            case ("GET", ["customers"]): return customers(limit: request.parameter("limit").flatMap { Int($0) })
            case ("GET", ["faults"]): return faultList()
            case ("POST", ["faults"]):
                faults.add(try ServerFault(json: request.body, now: now()))
                return faultList()
            case ("DELETE", ["faults"]):
                faults.clear()
                return faultList()
            case ("GET", ["keys"]): return keyList()
            case ("POST", ["keys"]): return try addKey()
            case ("DELETE", let path) where path.count == 2 && path[0] == "keys": return try revoke(path[1])
            case (_, let path): return try purchases.answer(to: request, path) ?? .notFound
            }
        } catch {
            return APIAnswer(status: 400) { $0.member("problem", "\(error)") }
        }
    }

    /// The progress of sending over all apps, genuine notifications only.
    private func progress() -> APIAnswer {
        let isFinished = deliveryService.withOutbox { $0.isFinished }
        var counts = (all: 0, accepted: 0, failing: 0)
        for app in historyStore.apps {
            historyStore.withHistory(of: app) { appHistory in
                counts.all += appHistory.range.upperBound
                counts.accepted += appHistory.accepted
                counts.failing += appHistory.failing
            }
        }
        return APIAnswer {
            $0.member("notifications", counts.all)
            $0.member("accepted", counts.accepted)
            $0.member("failing", counts.failing)
            $0.member("isFinished", isFinished)
        }
    }

    /// Customers whose purchases can be asked about and extended, without those who have access by another's purchase.
    private func customers(limit: Int?) -> APIAnswer {
        let limit = min(max(limit ?? 20, 0), Self.customerLimit)
        return APIAnswer { json in
            json.beginArray("customers")
            for app in historyStore.apps {
                let subscribers = historyStore.withHistory(of: app) { Array($0.allSubscribers.prefix(limit)) }
                for subscriber in subscribers where subscriber.newest.customer?.ownership == .purchased {
                    json.element(raw: Self.description(of: subscriber))
                }
            }
            json.endArray()
        }
    }

    private static func description(of subscriber: Subscriber) -> [UInt8] {
        APIAnswer { json in
            json.member("bundleId", subscriber.newest.app.bundleId)
            json.member("environment", subscriber.newest.app.environment.rawValue)
            json.member("originalTransactionId", subscriber.originalTransactionId)
            if let status = subscriber.newest.status { json.member("status", status) }
            if let token = subscriber.newest.customer?.appAccountToken {
                json.member("appAccountToken", token.uuidString.lowercased())
            }
            json.strings("transactionIds", of: subscriber.transactions.map(\.purchase.transactionId))
            json.beginArray("orderIds")
            for transaction in subscriber.transactions {
                json.element(OrderNumber(transactionId: transaction.purchase.transactionId).text)
            }
            json.endArray()
        }.body
    }

    private func faultList() -> APIAnswer {
        APIAnswer { json in
            json.beginArray("faults")
            for fault in faults.all(now: now()) { json.element(raw: APIAnswer { fault.write(to: &$0) }.body) }
            json.endArray()
        }
    }

    private func keyList() -> APIAnswer {
        APIAnswer { json in
            json.strings("keyIds", of: keys.ids)
        }
    }

    private func addKey() throws -> APIAnswer {
        guard let keyFiles else {
            throw SimulatorError("the keys were given by --api-key: start without it to add one here")
        }
        keys.add(try keyFiles.add())
        return keyList()
    }

    private func revoke(_ keyId: String) throws -> APIAnswer {
        guard keys.revoke(keyId) else { return .notFound }
        try keyFiles?.remove(keyId)
        return keyList()
    }
}
