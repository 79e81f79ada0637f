/// The one decision of a service. It knows no Kafka, no SQL and has no clock of its own.
public protocol Stage: Sendable {
    associatedtype Input: Sendable
    associatedtype Output: Sendable
    associatedtype Reason: StageReason

    /// One verdict per delivery, in their order.
    ///
    /// Throws only when the world failed; the same records are then judged again.
    func judge(_ deliveries: [Delivery<Input>]) async throws -> [Verdict<Output, Reason>]
}
