import Hummingbird

/// Reads a request body once, within limits.
///
/// The time is looked at whenever something arrives, which stops a client that trickles; one that falls silent is
/// disconnected by the server's idle timeout. So no request costs a timer.
struct RequestReader {
    enum Outcome: Equatable {
        case complete([UInt8])
        case tooLarge
        case tooSlow
        /// All requests together hold too much, and this one was the oldest of those that are not complete.
        case overBudget
        /// The connection ended, or what came is not HTTP.
        case broken
    }

    private var body: RequestBody.AsyncIterator
    private let limits: Limits
    private let instant: @Sendable () -> ContinuousClock.Instant
    private let deadline: ContinuousClock.Instant
    private var isAtEnd = false

    /// The time for the request begins now.
    init(_ body: RequestBody, limits: Limits, instant: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.body = body.makeAsyncIterator()
        self.limits = limits
        self.instant = instant
        deadline = instant() + limits.reading
    }

    /// - Parameter received: where the bytes are kept, to be released with the answer.
    mutating func read(into received: ReceivedBody) async -> Outcome {
        do {
            while let buffer = try await body.next() {
                guard received.count + buffer.readableBytes <= limits.body else { return .tooLarge }
                guard instant() < deadline else { return .tooSlow }
                guard received.append(buffer.readableBytesView) else { return .overBudget }
            }
            isAtEnd = true
            return received.complete().map(Outcome.complete) ?? .overBudget
        } catch {
            return .broken
        }
    }

    /// Reads what is left and forgets it.
    ///
    /// A client that is still sending while its connection is closed never sees the answer.
    /// - Returns: false if the end did not come within proportion and time.
    mutating func discard() async -> Bool {
        var rest = max(8 * limits.body, 8 << 20)
        do {
            while !isAtEnd, let buffer = try await body.next() {
                rest -= buffer.readableBytes
                guard rest >= 0, instant() < deadline else { return false }
            }
            isAtEnd = true
            return true
        } catch {
            return false
        }
    }
}
