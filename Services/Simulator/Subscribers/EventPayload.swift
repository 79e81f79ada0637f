import AppStore

import struct Foundation.Date
import struct Foundation.UUID

/// One notification before it is written in Apple's words and signed.
struct EventPayload: Sendable, Equatable {
    var uuid: UUID
    var kind: NotificationKind
    var app: App
    /// Nil for TEST, which is about nobody.
    var customer: Customer?
    var signedDate: Date
    /// 1 active, 2 expired, 3 billing retry, 4 grace, 5 revoked; nil for what is bought once.
    var status: Int?
    var purchase: Purchase?
    var renewal: Renewal?
    /// Only where many subscriptions were extended at once.
    var summary: NotificationSummary?
}
