import Foundation
import Storage

/// Looks at windows until all of them have closed or failed.
struct WindowWatch: Sendable {
    private static let pause: Duration = .milliseconds(500)

    let store: RecoveryWindowStore
    var display = ProgressDisplay()

    /// A scheduler takes up a window at its next round.
    private static let patience: Duration = .seconds(30)

    func follow(_ ids: [UUID]) async throws {
        let start = ContinuousClock.now
        while true {
            var filter = RecoveryWindowStore.Filter()
            filter.ids = ids
            let wholes = try await store.windows(filter)
            var counts = RecoveryWindow.Counts()
            var pages = 0
            for whole in wholes {
                let fetched = try await parts(of: whole)
                pages += fetched.reduce(0) { $0 + $1.pages }
                for part in fetched { counts.add(part.counts) }
            }
            let settled = wholes.count { $0.state == .closed || $0.state == .failed }
            let errors = wholes.compactMap(\.lastError)
            let isIdle = wholes.contains { $0.state == .open && $0.attempts == 0 && $0.parts == 0 }
            display.show(
                "\(settled) of \(ids.count) windows closed, \(pages) pages, \(counts.listed) listed, "
                    + "\(counts.missing) were missing, \(counts.recovered) recovered"
                    + (errors.isEmpty ? "" : "; last setback: \(errors[0])")
                    + (isIdle && ContinuousClock.now - start > Self.patience
                        ? "; nobody takes it up: does a scheduler run, with a key for this app?" : ""),
                isLast: settled == ids.count)
            if settled == ids.count { return }
            try await Task.sleep(for: Self.pause)
        }
    }

    private func parts(of whole: RecoveryWindow) async throws -> [RecoveryWindow] {
        guard whole.parts > 0 else { return [whole] }
        var filter = RecoveryWindowStore.Filter()
        filter.partOf = whole.id
        return try await store.windows(filter)
    }
}

extension RecoveryWindow.Counts {
    mutating func add(_ other: RecoveryWindow.Counts) {
        listed += other.listed
        present += other.present
        missing += other.missing
        recovered += other.recovered
        refused += other.refused
        unreadable += other.unreadable
    }
}
