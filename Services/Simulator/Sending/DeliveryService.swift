import Synchronization

/// The outbox where two reach into it: the loop that sends, and whoever asks Apple's API for something to be sent.
final class DeliveryService: Sendable {
    private let outbox: Mutex<Outbox>

    init(_ outbox: Outbox) { self.outbox = Mutex(outbox) }

    func withOutbox<Result: Sendable>(_ body: (inout Outbox) -> Result) -> Result {
        outbox.withLock { body(&$0) }
    }
}
