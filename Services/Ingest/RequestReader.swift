import Hummingbird

/// Reads a request body once, within limits.
///
/// The timeout is checked whenever something arrives, which stops a slow client; ``ConnectionGuard`` disconnects a silent one.
/// So no request costs a timer.
struct RequestReader {
    enum Outcome: Equatable {
        case complete([UInt8])
        case tooLarge
        case tooSlow
        /// All requests together hold too much, and this was the oldest incomplete one.
        case overBudget
        /// The connection ended, or the request is not HTTP.
        case broken
    }

    private var body: RequestBody.AsyncIterator
    private let limits: Limits
    private let instant: @Sendable () -> ContinuousClock.Instant
    private let deadline: ContinuousClock.Instant
    private var isAtEnd = false

    /// The timeout begins now.
    init(_ body: RequestBody, limits: Limits, instant: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.body = body.makeAsyncIterator()
        self.limits = limits
        self.instant = instant
        deadline = instant() + limits.reading
    }

    /// - Parameter received: holds the bytes, and is released with the answer.
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

    /// Reads and discards the rest.
    ///
    /// A client that is still sending while its connection is closed never sees the answer.
    /// - Returns: false if the rest was too long or too slow.
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
