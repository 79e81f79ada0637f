import Contracts
import Kafka
import Records
import Synchronization

@testable import Pipeline

/// Batches of so many records; nil is a turn without any.
final class ScriptedSource: Source {
    let taken = Mutex(0)
    private let batches: [Int?]
    private let end = AsyncStream.makeStream(of: Void.self)
    private let further = AsyncStream.makeStream(of: Void.self)

    init(batches: [Int?]) { self.batches = batches }

    /// Returns when the last batch has been taken and the next one is asked for.
    func ended() async { for await _ in end.stream { return } }

    func next() async -> Batch? {
        let turn = taken.withLock { taken in
            taken += 1
            return taken - 1
        }
        guard turn < batches.count else {
            end.continuation.yield()
            // None comes; the worker is cancelled.
            for await _ in further.stream {}
            return nil
        }
        return batches[turn].map { count in
            Batch(
                records: (0..<count).map {
                    Batch.Record(
                        wire: Even.Text("2").record(),
                        position: LogPosition(topic: "in", partition: 0, offset: Int64($0)), timestamp: nil)
                })
        }
    }

    func rewind() {}
    func close() {}
}

/// Takes every batch as committed.
struct AcceptingSettlement: Settlement {
    func settle(_ processed: ProcessedBatch<Even>) -> Settled { .settled }
}
