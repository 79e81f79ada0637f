import Contracts
import Kafka
import Records
import Testing

@testable import Pipeline

@Suite struct DeliveredOutputsTests {
    private struct Failed: Error {}
    private let partition = TopicPartition(topic: "in", partition: 0)

    private func outputs(_ offsets: Range<Int64>, isDeadLetter: Bool = false) -> [StageOutput] {
        offsets.map {
            StageOutput(
                identity: .init(
                    input: LogPosition(topic: "in", partition: 0, offset: $0), isDeadLetter: isDeadLetter),
                record: ProducerRecord(topic: "out", key: nil, value: []))
        }
    }

    private func offsets(_ outputs: [StageOutput]) -> [Int64] { outputs.map(\.identity.input.offset) }

    @Test func `DeliveredOutputs leaves out what was confirmed, whatever the next batch's bounds`() {
        var delivered = DeliveredOutputs()
        delivered.delivered(outputs(0..<6), except: [1: Failed(), 4: Failed()])
        #expect(offsets(delivered.pending(of: outputs(0..<3), revocations: 0)) == [1])
        delivered.settled([Span(partition: partition, first: 0, next: 3)])
        #expect(offsets(delivered.pending(of: outputs(0..<8), revocations: 0)) == [0, 1, 2, 4, 6, 7])
    }

    @Test func `DeliveredOutputs does not take a dead letter for a forwarded record`() {
        var delivered = DeliveredOutputs()
        delivered.delivered(outputs(0..<1, isDeadLetter: true), except: [:])
        #expect(delivered.pending(of: outputs(0..<1), revocations: 0).count == 1)
        #expect(delivered.pending(of: outputs(0..<1, isDeadLetter: true), revocations: 0).isEmpty)
    }

    @Test func `DeliveredOutputs tells the items of one record apart`() {
        let items = (0..<3).map {
            StageOutput(
                identity: .init(
                    input: LogPosition(topic: "in", partition: 0, offset: 7), isDeadLetter: true, item: $0),
                record: ProducerRecord(topic: "out", key: nil, value: []))
        }
        var delivered = DeliveredOutputs()
        delivered.delivered(items, except: [1: Failed()])
        #expect(delivered.pending(of: items, revocations: 0).map(\.identity.item) == [1])
        #expect(delivered.pending(of: outputs(7..<8, isDeadLetter: true), revocations: 0).count == 1)
    }

    @Test func `DeliveredOutputs is empty after partitions were revoked`() {
        var delivered = DeliveredOutputs()
        delivered.delivered(outputs(0..<3), except: [:])
        #expect(delivered.pending(of: outputs(0..<3), revocations: 1).count == 3)
        #expect(delivered.pending(of: outputs(0..<3), revocations: 1).count == 3)
    }
}
