import Testing

@testable import Kafka

@Suite struct TurnStateTests {
    let partition = TopicPartition(topic: "things", partition: 0)

    private func record(_ offset: Int64, partition: Int32 = 0) -> ConsumerRecord {
        ConsumerRecord(
            topic: "things", partition: partition, offset: offset, timestamp: nil, key: nil, value: [], headers: [])
    }

    @Test func `TurnState returns held records first and in order`() throws {
        var state = TurnState()
        for offset in 0..<3 { state.hold(record(Int64(offset))) }
        state.postpone(.turn(.revoked([partition])))
        #expect(state.takeHeld(limit: 2).map(\.offset) == [0, 1])
        #expect(state.takeHeld(limit: 2).map(\.offset) == [2])
        #expect(state.takeHeld(limit: 2).isEmpty)
        #expect(try state.next() == .revoked([partition]))
    }

    @Test func `TurnState returns a revocation after records with the next turn, and repeats it until it is answered`()
        throws
    {
        var state = TurnState()
        #expect(!state.isRebalancing)
        state.postpone(.turn(.revoked([partition])))
        #expect(state.isRebalancing)
        #expect(try state.next() == .revoked([partition]))
        #expect(try state.next() == .revoked([partition]))
        state.answered()
        #expect(!state.isRebalancing)
        #expect(try state.next() == nil)
    }

    @Test func `TurnState throws a failure after records once, with the next turn`() throws {
        var state = TurnState()
        state.postpone(.failure(KafkaError(code: 3)))
        #expect(!state.isRebalancing)
        #expect(throws: KafkaError(code: 3)) { try state.next() }
        #expect(try state.next() == nil)
    }

    @Test func `TurnState drops what it held at an answer`() {
        var state = TurnState()
        state.hold(record(0))
        state.answered()
        #expect(state.takeHeld(limit: 10).isEmpty)
    }

    @Test func `TurnState drops what it held of the partitions that are sought`() {
        var state = TurnState()
        state.hold(record(0))
        state.hold(record(0, partition: 1))
        state.forget([partition])
        #expect(state.takeHeld(limit: 10).map(\.partition) == [1])
    }

    @Test func `TurnState returns two rebalances in a row one by one`() throws {
        var state = TurnState()
        state.postpone(.turn(.revoked([partition])))
        state.postpone(.turn(.assigned([])))
        #expect(try state.next() == .revoked([partition]))
        state.answered()
        #expect(try state.next() == .assigned([]))
        state.answered()
        #expect(try state.next() == nil)
    }
}
