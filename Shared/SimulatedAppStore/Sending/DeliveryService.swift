import Synchronization

/// The outbox, shared by the loop that sends and the API, which orders notifications.
final class DeliveryService: Sendable {
    private let outbox: Mutex<Outbox>

    init(_ outbox: Outbox) { self.outbox = Mutex(outbox) }

    func withOutbox<Result: Sendable>(_ body: (inout Outbox) throws -> Result) rethrows -> Result {
        try outbox.withLock { try body(&$0) }
    }
}
