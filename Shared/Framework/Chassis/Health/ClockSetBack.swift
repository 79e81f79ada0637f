import Foundation
import Synchronization

extension Health {
    /// The process is not alive while its wall clock is behind where it was.
    ///
    /// Threads of librdkafka wait until a time of the wall clock: when it is set back by an hour, they stand still for an
    /// hour, and only a new process helps.
    func addLivenessCheck(ofClock clock: ProcessClock) {
        let start = clock.instant()
        // The wall clock's time at `start`, as the wall clock of now tells it: the latest that was seen.
        let latest = Mutex(clock.now())
        addLivenessCheck {
            let began = clock.now().addingTimeInterval(-(start.duration(to: clock.instant()) / .seconds(1)))
            let behind = latest.withLock { latest in
                latest = max(latest, began)
                return latest.timeIntervalSince(began)
            }
            guard behind > Self.tolerated else { return nil }
            return "the wall clock was set back by \(Int(behind)) s, for which clients of Kafka stand still"
        }
    }

    /// Seconds: shorter than it takes to notice by missing progress, longer than a correction of a running clock.
    private static let tolerated = 30.0
}
