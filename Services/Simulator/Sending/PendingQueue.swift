/// First in, first out.
struct PendingQueue: Sendable {
    private var drafts: [PendingNotification] = []
    private var taken = 0

    var isEmpty: Bool { taken == drafts.count }

    mutating func add(_ pending: PendingNotification) { drafts.append(pending) }

    mutating func take() -> PendingNotification? {
        guard !isEmpty else { return nil }
        defer {
            taken += 1
            if isEmpty {
                drafts = []
                taken = 0
            }
        }
        return drafts[taken]
    }
}
