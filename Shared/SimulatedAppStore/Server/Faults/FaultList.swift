import Foundation
import Synchronization

/// A fault of the API, on request.
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
        /// The token of a follow-up page is answered as expired.
        case expiredTokens
        /// No notification URL is configured.
        case noURL
    }

    var kind: Kind
    /// Nil is every endpoint.
    var endpoint: Endpoint?
    /// Number of requests until it is over; nil for all.
    var remaining: Int?
    /// When it ends; nil for never.
    var end: Date?
    /// Delay of a slow answer, and the time until the Retry-After of a storm.
    var delay: Duration = .seconds(1)
    /// The code of an error.
    var errorCode: Int64 = 5_000_000
}

/// The faults in effect. One that is over is removed.
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

    /// - Returns: the first fault of the kind for this endpoint; it counts as used.
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
