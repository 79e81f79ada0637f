import Contracts
import Foundation

extension StoreAPI {
    /// Request a Test Notification: it is sent like any other.
    func requestTestNotification(_ call: APICall) throws -> APIAnswer {
        if faults.strike(.noURL, call.endpoint, now: call.now) != nil { throw APIFault(4_040_007) }
        let date = present()
        let event = deliveryService.withOutbox { outbox in
            let event = EventPayload(uuid: outbox.uuid(), kind: .test, app: call.app, signedDate: date)
            outbox.post(event)
            return event
        }
        let uuid = event.uuid.uuidString.lowercased()
        let token = "\(uuid)_\(call.now.milliseconds)"
        historyStore.withHistory(of: call.app) { $0.tests[token] = uuid }
        return APIAnswer { $0.member("testNotificationToken", token) }
    }

    /// Get Test Notification Status: available once the first attempt has ended.
    func testNotificationStatus(_ call: APICall) throws -> APIAnswer {
        let (isKnown, notification) = historyStore.withHistory(of: call.app) { appHistory in
            let uuid = appHistory.tests[call.id]
            return (uuid != nil, uuid.flatMap { appHistory.notification(uuid: $0) })
        }
        guard isKnown else { throw APIFault(4_000_020) }
        guard let notification, !notification.attempts.isEmpty else { throw APIFault(4_040_008) }
        return APIAnswer { $0.members(of: notification) }
    }
}
