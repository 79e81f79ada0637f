/// Deliveries by the time they are due: a binary heap, because an outage adds thousands.
struct RetryQueue: Sendable {
    private struct Entry {
        var due: ContinuousClock.Instant
        var delivery: NotificationDelivery
    }

    private var heap: [Entry] = []

    var count: Int { heap.count }
    var earliest: ContinuousClock.Instant? { heap.first?.due }

    mutating func add(_ delivery: NotificationDelivery, due: ContinuousClock.Instant) {
        heap.append(Entry(due: due, delivery: delivery))
        var child = heap.count - 1
        while child > 0, heap[child].due < heap[(child - 1) / 2].due {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// The earliest one, if it is due.
    mutating func take(dueAt instant: ContinuousClock.Instant) -> NotificationDelivery? {
        guard let first = heap.first, first.due <= instant else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].due < heap[smallest].due { smallest = child }
            }
            guard smallest != parent else { return first.delivery }
            heap.swapAt(parent, smallest)
            parent = smallest
        }
    }
}
