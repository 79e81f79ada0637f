/// First in, first out.
struct PendingQueue: Sendable {
    private var pending: [PendingNotification] = []
    private var taken = 0

    var isEmpty: Bool { taken == pending.count }
    var count: Int { pending.count - taken }

    mutating func add(_ notification: PendingNotification) { pending.append(notification) }

    mutating func take() -> PendingNotification? {
        guard !isEmpty else { return nil }
        defer {
            taken += 1
            if isEmpty {
                pending = []
                taken = 0
            }
        }
        return pending[taken]
    }
}
