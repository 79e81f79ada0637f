import Contracts

import struct Foundation.Date
import struct Foundation.UUID

/// A notification that Apple listed in a window, and what became of it. Its uuid and words are claims of the payload.
public struct RecoveryItem: Sendable, Hashable {
    /// How it stands.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// The ledger had it.
        case present
        /// The ledger lacked it; it is on the line again.
        case published
        /// It was lacking, and is in the ledger now.
        case arrived
        /// It was lacking, and the line put it aside.
        case refused
        /// It names no uuid one could look for; it is among the dead letters.
        case unreadable
    }

    /// The window.
    public var window: UUID
    /// As it claims; made from its bytes where it names none.
    public var notificationUUID: UUID
    /// How it stands.
    public var state: State
    /// As it claims.
    public var notificationType: String?
    /// As it claims.
    public var subtype: String?
    /// Why it was refused, or cannot be read.
    public var reason: String?
    /// One sentence about that.
    public var message: String?
    /// When it was compared with the ledger.
    public var noticedAt: Date
    /// When it arrived or was refused.
    public var settledAt: Date?

    /// One that was just compared.
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

/// A message of a window, compared with the ledger.
public struct SeenPage: Sendable {
    /// The window.
    public var window: UUID
    /// As in the message.
    public var page: Int64
    /// As in the message.
    public var part: Int64
    /// What it lists.
    public var items: [RecoveryItem]

    /// All fields.
    public init(window: UUID, page: Int64, part: Int64, items: [RecoveryItem]) {
        self.window = window
        self.page = page
        self.part = part
        self.items = items
    }
}
