import TestSupport
import Testing

@testable import Kafka

@Suite struct PartitionChoiceTests {
    private var generator = SeededGenerator(state: 1)
    private var choice = PartitionChoice()
    private let start = ContinuousClock.now

    /// The partitions of so many records, one every 20 ms.
    private mutating func next(_ records: Int, from time: Duration = .zero) -> [Int32] {
        (0..<records).map { choice.next(of: 3, at: start + time + .milliseconds(20 * $0), using: &generator) }
    }

    @Test mutating func `PartitionChoice keeps a partition for ten milliseconds, and uses all of them`() {
        let partition = choice.next(of: 3, at: start, using: &generator)
        for milliseconds in 1..<10 {
            #expect(choice.next(of: 3, at: start + .milliseconds(milliseconds), using: &generator) == partition)
        }
        #expect(Set(next(40)) == [0, 1, 2])
    }

    @Test mutating func `PartitionChoice avoids a late partition for ten seconds, and then lets one record try it`() {
        _ = next(1)
        choice.isLate(1, at: start)
        #expect(choice.hasOther)
        #expect(Set(next(40)) == [0, 2])
        #expect(next(1, from: .seconds(10)) == [1])
        #expect(Set(next(40, from: .milliseconds(10_020))) == [0, 2], "the one that tries it has not been confirmed")
        choice.confirms(1)
        #expect(Set(next(40, from: .seconds(11))) == [0, 1, 2])
    }

    @Test mutating func `PartitionChoice avoids none where all are late`() {
        _ = next(1)
        for partition: Int32 in 0..<3 { choice.isLate(partition, at: start) }
        #expect(!choice.hasOther)
        #expect(Set(next(40)) == [0, 1, 2])
    }
}
