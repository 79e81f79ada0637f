import AppStore

import struct Foundation.Date
import struct Foundation.UUID

/// One notification before it is built and signed.
struct EventPayload: Sendable, Equatable {
    /// Which of Apple's objects it holds: exactly one.
    enum Object: Sendable, Equatable {
        /// About a purchase; TEST has it, too, without one.
        case data
        /// Many subscriptions were extended at once.
        case summary(NotificationSummary)
        case externalPurchaseToken(ExternalPurchaseToken)
        /// About the app on a customer's device.
        case appData
        /// An object that clients may not know: its name, and its members beside the app and the environment.
        case other(name: String, members: String)
    }

    var uuid: UUID
    var kind: NotificationKind
    var app: App
    /// Nil where it is about no customer.
    var customer: Customer?
    var signedDate: Date
    /// 1 active, 2 expired, 3 billing retry, 4 grace, 5 revoked; nil for a one-time purchase.
    var status: Int?
    /// In a refund flow the transaction of the refund, else the newest.
    var purchase: Purchase?
    var renewal: Renewal?
    var object = Object.data
    /// All periods of access of its purchase, where the event changed them.
    var access: [ExpectedAccess.Period]?
    /// The book of its purchase, where the event changed it; nil for what another customer pays.
    var book: ChargeBook?
}

extension EventPayload {
    /// The age of an event: notifications of one purchase may be sent in another order.
    ///
    /// Two events of one moment are ordered by uuid: arbitrary, but the same in whatever order they come.
    struct Age: Sendable, Comparable {
        let signedDate: Date
        private let uuid: UUID

        fileprivate init(_ event: EventPayload) {
            signedDate = event.signedDate
            uuid = event.uuid
        }

        static func < (left: Self, right: Self) -> Bool {
            guard left.signedDate == right.signedDate else { return left.signedDate < right.signedDate }
            return left.uuid.uuidString < right.uuid.uuidString
        }
    }

    var age: Age { Age(self) }
}
