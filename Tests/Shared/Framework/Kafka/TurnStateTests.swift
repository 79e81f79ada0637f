import Testing

@testable import Kafka

@Suite struct TurnStateTests {
    let partition = TopicPartition(topic: "things", partition: 0)

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

    @Test func `TurnState throws the same error of several partitions once, and another one beside it`() throws {
        var state = TurnState()
        for code: Int32 in [3, 3, 5, 3] { state.postpone(.failure(KafkaError(code: code))) }
        #expect(throws: KafkaError(code: 3)) { try state.next() }
        #expect(throws: KafkaError(code: 5)) { try state.next() }
        #expect(!state.isFailing)
        #expect(try state.next() == nil)
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
