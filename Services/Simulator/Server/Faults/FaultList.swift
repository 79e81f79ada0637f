import Foundation
import Synchronization

/// Something that is to go wrong, on request.
struct ServerFault: Sendable, Equatable {
    enum Kind: String, Sendable, CaseIterable {
        /// The connection is closed without an answer.
        case close
        /// The answer comes late.
        case slow
        /// The answer is an error of Apple's.
        case error
        /// The answer is 429.
        case storm
        /// The token of a follow-up page is said to be expired.
        case expiredTokens
        /// No notification URL is configured.
        case noURL
    }

    var kind: Kind
    /// Nil strikes every endpoint.
    var endpoint: Endpoint?
    /// How many requests it strikes before it is over; nil for all.
    var remaining: Int?
    /// When it is over; nil for never.
    var end: Date?
    /// How late a slow answer is, and how far ahead the Retry-After of a storm.
    var delay: Duration = .seconds(1)
    /// Of an error.
    var errorCode: Int64 = 5_000_000
}

/// What is to go wrong now. A fault that is over is forgotten.
final class FaultList: Sendable {
    private let faults: Mutex<[ServerFault]>

    init(_ faults: [ServerFault] = []) { self.faults = Mutex(faults) }

    func add(_ fault: ServerFault) { faults.withLock { $0.append(fault) } }

    func clear() { faults.withLock { $0 = [] } }

    func all(now: Date) -> [ServerFault] {
        faults.withLock {
            Self.removeWhatIsOver(&$0, now: now)
            return $0
        }
    }

    /// - Returns: the first fault of the kind that strikes this endpoint; it has struck then.
    func strike(_ kind: ServerFault.Kind, _ endpoint: Endpoint?, now: Date) -> ServerFault? {
        faults.withLock { faults in
            Self.removeWhatIsOver(&faults, now: now)
            guard
                let place = faults.firstIndex(where: {
                    $0.kind == kind && ($0.endpoint == nil || $0.endpoint == endpoint)
                })
            else { return nil }
            let fault = faults[place]
            if let remaining = fault.remaining { faults[place].remaining = remaining - 1 }
            return fault
        }
    }

    private static func removeWhatIsOver(_ faults: inout [ServerFault], now: Date) {
        faults.removeAll { fault in
            fault.remaining.map { $0 <= 0 } ?? false || fault.end.map { $0 <= now } ?? false
        }
    }
}
