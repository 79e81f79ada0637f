import Storage
import Synchronization

import struct Foundation.Date

/// Apps that Apple does not answer for the time being: asking for each of their customers would cost the time of all
/// others. Of this process; another one learns it with its first question.
final class Pauses: Sendable {
    private struct Standing {
        var until: Date
        var reason: String
    }

    private let standing = Mutex<[CoverageStore.App: Standing]>([:])

    func begin(_ pause: Pause, of app: CoverageStore.App, now: Date) {
        let end = now.addingTimeInterval(pause.length / .seconds(1))
        standing.withLock { $0[app] = Standing(until: end, reason: pause.reason) }
    }

    /// What is left of it; nil where the app may be asked about.
    func pause(of app: CoverageStore.App, now: Date) -> Pause? {
        standing.withLock { standing in
            guard let held = standing[app] else { return nil }
            guard held.until > now else {
                standing[app] = nil
                return nil
            }
            return Pause(length: .seconds(held.until.timeIntervalSince(now)), reason: held.reason)
        }
    }
}
