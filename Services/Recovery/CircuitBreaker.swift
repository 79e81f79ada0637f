import ServerAPI
import Storage
import Synchronization

import struct Foundation.Date

/// Stops requests for apps that Apple currently rejects: each would cost the time of other apps. Per process.
final class CircuitBreaker: Sendable {
    private struct OpenCircuit {
        var until: Date
        var reason: String
    }

    private let openCircuits = Mutex<[CoverageStore.App: OpenCircuit]>([:])

    func begin(_ pause: Postponement, of app: CoverageStore.App, now: Date) {
        let end = now.addingTimeInterval(pause.length / .seconds(1))
        openCircuits.withLock { $0[app] = OpenCircuit(until: end, reason: pause.reason) }
    }

    /// The remaining postponement; nil where requests are allowed.
    func pause(of app: CoverageStore.App, now: Date) -> Postponement? {
        openCircuits.withLock { openCircuits in
            guard let held = openCircuits[app] else { return nil }
            let left = held.until.timeIntervalSince(now)
            // Longer than any pause only where the clock was set back.
            guard left > 0, left <= Double(RetryPause.longest) else {
                openCircuits[app] = nil
                return nil
            }
            return Postponement(length: .seconds(left), reason: held.reason)
        }
    }
}
