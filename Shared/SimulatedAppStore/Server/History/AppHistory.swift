import Foundation

/// The history of one app in one environment.
struct AppHistory: Sendable {
    /// In the order of their first attempts. Positions count from the beginning of the run.
    private var notifications: [SentNotification] = []
    /// How many were dropped: the position of the first that is left.
    private var forgotten = 0
    private var positions: [String: Int] = [:]
    private var subscribers: [String: Subscriber] = [:]
    /// Original transaction ids by Apple account.
    private var accounts: [String: Set<String>] = [:]
    /// Original transaction ids by transaction id.
    private var originals: [String: String] = [:]
    private var revision: Int64 = 0
    /// All notifications ever added, the dropped ones included.
    private(set) var accepted = 0
    private(set) var failing = 0
    /// The uuids of test notifications, by token.
    var tests: [String: String] = [:]
    var massExtensions: [MassExtension.Key: MassExtension] = [:]

    /// Positions in use.
    var range: Range<Int> { forgotten..<(forgotten + notifications.count) }

    subscript(position: Int) -> SentNotification { notifications[position - forgotten] }

    /// The position of the first notification whose first attempt was at this time or later.
    func position(of date: Date) -> Int {
        var low = range.lowerBound
        var high = range.upperBound
        while low < high {
            let middle = (low + high) / 2
            if self[middle].firstAttempt < date { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func notification(uuid: String) -> SentNotification? {
        positions[uuid].flatMap { range.contains($0) ? self[$0] : nil }
    }

    /// - Parameter id: of any of its transactions.
    func subscriber(ofTransaction id: String) -> Subscriber? { originals[id].flatMap { subscribers[$0] } }

    func subscriber(_ originalTransactionId: String) -> Subscriber? { subscribers[originalTransactionId] }

    var allSubscribers: some Collection<Subscriber> { subscribers.values }

    mutating func change(_ originalTransactionId: String, _ body: (inout Subscriber) -> Void) {
        if var subscriber = subscribers.removeValue(forKey: originalTransactionId) {
            body(&subscriber)
            subscribers[originalTransactionId] = subscriber
        }
    }

    mutating func note(_ event: EventPayload) {
        guard let purchase = event.purchase else { return }
        let id = purchase.originalTransactionId
        var subscriber = subscribers.removeValue(forKey: id) ?? Subscriber(newest: event)
        subscriber.note(event, of: purchase) {
            revision += 1
            return revision
        }
        subscribers[id] = subscriber
        originals[purchase.transactionId] = id
        if let account = event.customer?.appTransactionId { accounts[account, default: []].insert(id) }
    }

    /// All purchases of an Apple account, in the order of their ids.
    func subscribers(sharingAccountWith subscriber: Subscriber) -> [Subscriber] {
        guard let account = subscriber.newest.customer?.appTransactionId, let ids = accounts[account] else {
            return [subscriber]
        }
        return ids.sorted().compactMap { subscribers[$0] }
    }

    mutating func add(_ notification: SentNotification, limit: Int) {
        let position = range.upperBound
        var notification = notification
        // A clock that is set back must not break the order.
        if let last = notifications.last {
            notification.firstAttempt = max(last.firstAttempt, notification.firstAttempt)
        }
        notifications.append(notification)
        positions[notification.uuid] = position
        if let id = notification.originalTransactionId { change(id) { $0.notifications.append(position) } }
        // A tenth at a time: removing from the front moves all the others.
        if notifications.count > limit + limit / 10 { forget(notifications.count - limit) }
    }

    mutating func add(_ attempt: DeliveryAttempt, to uuid: String) {
        guard let position = positions[uuid], range.contains(position) else { return }
        let before = self[position]
        notifications[position - forgotten].attempts.append(attempt)
        let after = self[position]
        accepted += (after.isAccepted ? 1 : 0) - (before.isAccepted ? 1 : 0)
        failing += (after.isFailing ? 1 : 0) - (before.isFailing ? 1 : 0)
    }

    private mutating func forget(_ count: Int) {
        for position in forgotten..<(forgotten + count) {
            let notification = self[position]
            positions[notification.uuid] = nil
            guard let id = notification.originalTransactionId else { continue }
            change(id) { $0.notifications.removeAll { $0 == position } }
            // The purchase that the last notification was about is dropped with it.
            guard let subscriber = subscribers[id], subscriber.notifications.isEmpty else { continue }
            for transaction in subscriber.transactions { originals[transaction.purchase.transactionId] = nil }
            subscribers[id] = nil
            if let account = subscriber.newest.customer?.appTransactionId {
                accounts[account]?.remove(id)
                if accounts[account]?.isEmpty == true { accounts[account] = nil }
            }
        }
        notifications.removeFirst(count)
        forgotten += count
    }
}
