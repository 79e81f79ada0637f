import Commands
import Foundation
import Storage

/// Polls windows until all of them are closed or failed.
struct WindowFollower: Sendable {
    private static let pause: Duration = .milliseconds(500)

    let store: RecoveryWindowStore
    var display = ProgressDisplay()

    /// A scheduler claims a window in its next round, and fetched pages are compared at once.
    static let patience: Duration = .seconds(10)

    func follow(_ ids: [UUID]) async throws {
        var lastMove = ContinuousClock.now
        var lastTally: Counts?
        while true {
            var filter = RecoveryWindowStore.Filter()
            filter.ids = ids
            let wholes = try await store.windows(filter)
            var counts = RecoveryWindow.Counts()
            var pages = 0
            for whole in wholes {
                let fetched = try await subwindows(of: whole)
                pages += fetched.reduce(0) { $0 + $1.pages }
                for part in fetched { counts.add(part.counts) }
            }
            let settled = wholes.count { $0.state == .closed || $0.state == .failed }
            let errors = wholes.compactMap(\.lastError)
            let isIdle = wholes.contains { $0.state == .open && $0.attempts == 0 && $0.subwindows == 0 }
            let tally = Counts(settled: settled, pages: pages, counts: counts)
            if tally != lastTally { lastMove = .now }
            lastTally = tally
            let standstill =
                errors.isEmpty ? Self.standstill(isTaken: !isIdle, for: ContinuousClock.now - lastMove) : nil
            display.show(
                "\(settled) of \(ids.count) windows closed, \(pages) pages, \(counts.listed) listed, "
                    + "\(counts.missing) were missing, \(counts.recovered) recovered"
                    + (errors.isEmpty ? "" : "; last error: \(errors[0])")
                    + (standstill.map { "; \($0)" } ?? ""),
                isLast: settled == ids.count)
            if settled == ids.count { return }
            try await Task.sleep(for: Self.pause)
        }
    }

    /// What changes while there is progress.
    private struct Counts: Equatable {
        var settled: Int
        var pages: Int
        var counts: RecoveryWindow.Counts
    }

    /// What to check after this long without progress; nil before.
    /// - Parameter isTaken: whether a scheduler has claimed all windows.
    static func standstill(isTaken: Bool, for time: Duration) -> String? {
        guard time > patience else { return nil }
        guard !isTaken else {
            return "no progress for \(time.components.seconds) s: check that scheduler and recovery run"
        }
        return
            "no scheduler has claimed the window: check that one runs with an API key for this app. Ctrl-C leaves the "
            + "window open for it"
    }

    private func subwindows(of whole: RecoveryWindow) async throws -> [RecoveryWindow] {
        guard whole.subwindows > 0 else { return [whole] }
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
        rejected += other.rejected
        unreadable += other.unreadable
    }
}
