import AppStore
import Contracts
import Digests
import Storage

import struct Foundation.Date
import struct Foundation.UUID

/// A notification in Apple's history, and whether the ledger has it.
struct ComparedItem: Sendable {
    /// Result of the comparison.
    enum State: Sendable, Equatable {
        case present
        case missing
        case unreadable
    }

    let item: HistoryPage.Item
    /// From the unverified payload; derived from its bytes where it has none.
    let uuid: UUID
    let claim: UncheckedNotification?
    var state: State

    /// Not yet compared.
    init(_ item: HistoryPage.Item) {
        self.item = item
        claim = UncheckedNotification(item.signedPayload)
        if let uuid = claim?.notificationUUID {
            self.uuid = uuid
            state = .missing
        } else {
            uuid = Self.name(of: item.signedPayload)
            state = .unreadable
        }
    }

    /// Whether its delivery attempts are worth storing: not where the first one succeeded and the ledger has it.
    var isWorthKeeping: Bool { state == .missing || item.sendAttempts.contains { $0.result != "SUCCESS" } }

    /// Equal for equal bytes; version 8, which Apple does not use.
    private static func name(of bytes: [UInt8]) -> UUID {
        let digest = SHA256Hash.digest(bytes)
        return UUID(
            uuid: (
                digest[0], digest[1], digest[2], digest[3], digest[4], digest[5], digest[6] & 0x0f | 0x80, digest[7],
                digest[8] & 0x3f | 0x80, digest[9], digest[10], digest[11], digest[12], digest[13], digest[14],
                digest[15]
            ))
    }
}

extension [ComparedItem] {
    /// The uuids to look up in the ledger.
    var named: [UUID] { filter { $0.state != .unreadable }.map(\.uuid) }

    /// Marks those that the ledger has as present.
    func compared(with recorded: Set<UUID>) -> [ComparedItem] {
        map { item in
            guard item.state == .missing, recorded.contains(item.uuid) else { return item }
            var item = item
            item.state = .present
            return item
        }
    }
}

/// A history page compared with the ledger.
struct ComparedPage: Sendable {
    let page: HistoryPage
    let items: [ComparedItem]

    static let unreadable = "has no notificationUUID"

    /// The page as a database row, published at `time`.
    func seen(at time: Date) -> SeenPage {
        SeenPage(
            window: page.window, page: page.page, part: page.part,
            items: items.map { compared in
                let isUnreadable = compared.state == .unreadable
                return RecoveryItem(
                    window: page.window, notificationUUID: compared.uuid, state: compared.recorded,
                    notificationType: compared.claim?.notificationType?.storable,
                    subtype: compared.claim?.subtype?.storable,
                    reason: isUnreadable ? ComparisonReason.unreadable.rawValue : nil,
                    message: isUnreadable ? "the payload in Apple's history \(Self.unreadable)" : nil, noticedAt: time)
            })
    }

    /// Apple's delivery attempts that are worth storing.
    var attempts: [RecordedAttempt] {
        items.filter(\.isWorthKeeping)
            .flatMap { $0.item.recordedAttempts(of: $0.uuid, page.environment, page.bundleId) }
    }
}

extension ComparedItem {
    fileprivate var recorded: RecoveryItem.State {
        switch state {
        case .present: .present
        case .missing: .published
        case .unreadable: .unreadable
        }
    }
}

extension HistoryPage.Item {
    /// Apple's delivery attempts as database rows.
    func recordedAttempts(of uuid: UUID, _ environment: StoreEnvironment, _ bundleId: String) -> [RecordedAttempt] {
        sendAttempts.map {
            RecordedAttempt(
                notificationUUID: uuid, environment: environment, bundleId: bundleId.storable,
                attemptedAt: $0.attemptedAt, result: $0.result.storable)
        }
    }
}
