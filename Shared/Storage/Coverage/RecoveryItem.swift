import Contracts

import struct Foundation.Date
import struct Foundation.UUID

/// A notification that Apple listed in a window, and its state. Its uuid, type and subtype are unverified fields of the payload.
public struct RecoveryItem: Sendable, Hashable {
    /// Whether the ledger holds the notification.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// The ledger held it already.
        case present
        /// The ledger lacked it; recovery has published it to the pipeline.
        case published
        /// The ledger lacked it and holds it now.
        case arrived
        /// The ledger lacked it, and the pipeline rejected it.
        case rejected
        /// It has no readable uuid; it is a dead letter.
        case unreadable
    }

    /// The window that lists it.
    public var window: UUID
    /// The uuid in the payload; derived from its bytes where the payload has none.
    public var notificationUUID: UUID
    /// Whether the ledger holds the notification.
    public var state: State
    /// As it claims.
    public var notificationType: String?
    /// As it claims.
    public var subtype: String?
    /// Why it was rejected, or cannot be read.
    public var reason: String?
    /// The reason in one sentence.
    public var message: String?
    /// When it was compared with the ledger.
    public var noticedAt: Date

    /// An item that was just compared with the ledger.
    public init(
        window: UUID, notificationUUID: UUID, state: State, notificationType: String? = nil, subtype: String? = nil,
        reason: String? = nil, message: String? = nil, noticedAt: Date
    ) {
        self.window = window
        self.notificationUUID = notificationUUID
        self.state = state
        self.notificationType = notificationType
        self.subtype = subtype
        self.reason = reason
        self.message = message
        self.noticedAt = noticedAt
    }
}

/// One message of a window's page, compared with the ledger.
public struct SeenPage: Sendable {
    /// The window that lists it.
    public var window: UUID
    /// As in the message.
    public var page: Int64
    /// As in the message.
    public var part: Int64
    /// The notifications in the message.
    public var items: [RecoveryItem]

    package init(window: UUID, page: Int64, part: Int64, items: [RecoveryItem]) {
        self.window = window
        self.page = page
        self.part = part
        self.items = items
    }
}
