import Testing

@testable import Devkit
@testable import Operations

@Suite struct SnapshotTests {
    @Test func `Snapshot sees no progress in a stalled pipeline, whatever heartbeats and requests to Apple do`() {
        var snapshot = Snapshot()
        snapshot.backlog = Backlog.Measurement(waiting: [.verifier: 7, .scheduler: 1])
        snapshot.stages = [.verifier: StageCounts(handled: 5), .recovery: StageCounts(handled: 2)]
        let before = snapshot.mark(deadLetters: 3)
        snapshot.backlog?.number = 9
        snapshot.backlog?.waiting[.scheduler] = 4
        snapshot.stages[.recovery] = StageCounts(handled: 8)
        snapshot.stages[.scheduler] = StageCounts(handled: 6)
        #expect(snapshot.mark(deadLetters: 3) == before)
    }

    @Test func `Every notification that moves is progress`() {
        let snapshot = Snapshot()
        let before = snapshot.mark(deadLetters: 0)
        var stored = snapshot
        stored.stored = 1
        var handled = snapshot
        handled.stages[.deduplicator] = StageCounts(handled: 1)
        var waiting = snapshot
        waiting.backlog = Backlog.Measurement(waiting: [.stateUpdater: 1])
        for moved in [stored, handled, waiting] { #expect(moved.mark(deadLetters: 0) != before) }
        #expect(snapshot.mark(deadLetters: 1) != before)
    }
}
