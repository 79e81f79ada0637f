import Synchronization

/// The outbox, shared by the loop that sends and the API, which orders notifications.
final class DeliveryService: Sendable {
    private let outbox: Mutex<Outbox>

    init(_ outbox: Outbox) { self.outbox = Mutex(outbox) }

    func withOutbox<Result: Sendable>(_ body: (inout Outbox) -> Result) -> Result {
        outbox.withLock { body(&$0) }
    }
}
