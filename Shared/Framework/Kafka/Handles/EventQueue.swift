import CRDKafka

/// Owns a reference to an `rd_kafka_queue_t` and holds the client it belongs to.
///
/// `@unchecked Sendable` because queues may be polled from any thread and the pointer never changes.
final class EventQueue: @unchecked Sendable {
    private let pointer: OpaquePointer
    private let client: ClientHandle

    /// The queue of a producer's delivery reports, errors and statistics.
    init(mainOf client: ClientHandle) {
        self.client = client
        pointer = client.withPointer { rd_kafka_queue_get_main($0) }
    }

    /// The queue of a consumer's records, rebalances and errors.
    init?(consumerOf client: ClientHandle) {
        guard let pointer = client.withPointer({ rd_kafka_queue_get_consumer($0) }) else { return nil }
        self.client = client
        self.pointer = pointer
    }

    /// A separate queue for the answers to one request.
    init(newFor client: ClientHandle) {
        self.client = client
        pointer = client.withPointer { rd_kafka_queue_new($0) }
    }

    /// Waits for the next event, which is freed when the body returns.
    /// - Returns: nil if none came.
    func next<Result>(within wait: Duration, _ body: (OpaquePointer) throws -> Result) rethrows -> Result? {
        guard let event = rd_kafka_queue_poll(pointer, wait.wholeMilliseconds) else { return nil }
        defer { rd_kafka_event_destroy(event) }
        return try body(event)
    }

    /// Ends the current or the next wait at once.
    func wake() { rd_kafka_queue_yield(pointer) }

    func withPointer<Result>(_ body: (OpaquePointer) throws -> Result) rethrows -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(pointer)
    }

    deinit { rd_kafka_queue_destroy(pointer) }
}
