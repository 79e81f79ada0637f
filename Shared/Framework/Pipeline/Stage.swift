/// The decision of a service. It knows no Kafka, no SQL and has no clock of its own.
public protocol Stage: Sendable {
    associatedtype Input: Sendable
    associatedtype Output: Sendable
    associatedtype Reason: StageReason

    /// One result per delivery, in their order.
    ///
    /// Throws only when a dependency was unavailable; the same records are then processed again.
    func process(_ deliveries: [Delivery<Input>]) async throws -> [StageResult<Output, Reason>]
}
