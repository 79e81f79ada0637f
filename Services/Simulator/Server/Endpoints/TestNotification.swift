import Contracts
import Foundation

extension StoreAPI {
    /// Request a Test Notification: one is really sent.
    func requestTestNotification(_ call: APICall) throws -> APIAnswer {
        if faults.strike(.noURL, call.endpoint, now: call.now) != nil { throw APIFault(4_040_007) }
        let date = present()
        let notice = office.withOutbox { outbox in
            let notice = Notice(uuid: outbox.uuid(), announcement: .test, app: call.app, signedDate: date)
            outbox.post(notice)
            return notice
        }
        let uuid = notice.uuid.uuidString.lowercased()
        let token = "\(uuid)_\(call.now.milliseconds)"
        archive.withShelf(of: call.app) { $0.tests[token] = uuid }
        return APIAnswer { $0.member("testNotificationToken", token) }
    }

    /// Get Test Notification Status: as soon as the first attempt has ended.
    func testNotificationStatus(_ call: APICall) throws -> APIAnswer {
        let (isKnown, notification) = archive.withShelf(of: call.app) { shelf in
            let uuid = shelf.tests[call.id]
            return (uuid != nil, uuid.flatMap { shelf.notification(uuid: $0) })
        }
        guard isKnown else { throw APIFault(4_000_020) }
        guard let notification, !notification.attempts.isEmpty else { throw APIFault(4_040_008) }
        return APIAnswer { $0.members(of: notification) }
    }
}
