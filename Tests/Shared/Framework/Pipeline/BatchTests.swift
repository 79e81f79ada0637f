import Contracts
import Foundation
import Kafka
import Records
import Testing

@testable import Pipeline

/// Passes on even texts, drops odd ones, and rejects `bad`.
struct Even: Stage {
    enum Reason: String, StageReason {
        case undecodable, odd, bad, later
        var countsTowardsRejectionLimit: Bool { true }
        var isDeferred: Bool { self == .later }
    }

    struct Text: TopicMessage, Hashable {
        var text: String
        init(_ text: String) { self.text = text }

        init(_ record: WireRecord) throws(ContractFault) {
            guard let text = String(validating: record.value, as: UTF8.self) else { throw .missing("text") }
            self.text = text
        }

        func record() -> WireRecord { WireRecord(value: Array(text.utf8)) }
    }

    func process(_ deliveries: [Delivery<Text>]) -> [StageResult<Text, Reason>] {
        deliveries.map { delivery in
            if delivery.message.text == "later" { return .discard(.later) }
            guard let number = Int(delivery.message.text) else { return .deadLetter(.bad, message: "not a number") }
            return number.isMultiple(of: 2) ? .forward(delivery.message) : .discard(.odd)
        }
    }
}

@Suite struct BatchTests {
    static func record(_ value: [UInt8], _ topic: String = "t", _ partition: Int32 = 0, offset: Int64) -> Batch.Record {
        Batch.Record(
            wire: WireRecord(value: value), position: LogPosition(topic: topic, partition: partition, offset: offset),
            timestamp: nil)
    }

    @Test func `Batch has a result for every record in its order`() async throws {
        let values: [[UInt8]] = [Array("2".utf8), [0xFF], Array("x".utf8), Array("3".utf8), Array("4".utf8)]
        let batch = Batch(records: values.enumerated().map { Self.record($1, offset: Int64($0)) })
        let processed = try await batch.processed(by: Even())
        #expect(
            processed.results == [
                .forward(Even.Text("2")),
                .deadLetter(.undecodable, message: "text is missing or of the wrong type"),
                .deadLetter(.bad, message: "not a number"), .discard(.odd), .forward(Even.Text("4")),
            ])
        #expect(processed.forwarded.map(\.record.position.offset) == [0, 4])
    }

    @Test func `Batch makes dead letters that name the record's place and keep it unchanged`() async throws {
        var batch = Batch(records: [Self.record([0xFF], "topic", 3, offset: 17)])
        batch.attempt = 4
        let deadLetters = try await batch.processed(by: Even())
            .deadLetters(stage: "even", at: Date(milliseconds: 1), build: "b")
        let deadLetter = try #require(deadLetters.first)
        #expect(deadLetters.count == 1)
        #expect(deadLetter.original == WireRecord(value: [0xFF]))
        #expect(deadLetter.position == LogPosition(topic: "topic", partition: 3, offset: 17))
        #expect(deadLetter.attempts == 4)
        #expect(deadLetter.reason == "undecodable")
    }

    @Test func `Batch covers each partition from its first record to after its last`() async throws {
        let batch = Batch(records: [
            Self.record([], "b", 1, offset: 5), Self.record([], "a", 0, offset: 9), Self.record([], "b", 1, offset: 8),
        ])
        #expect(
            try await batch.processed(by: Even()).spans == [
                Span(partition: TopicPartition(topic: "a", partition: 0), first: 9, next: 10),
                Span(partition: TopicPartition(topic: "b", partition: 1), first: 5, next: 9),
            ])
    }
}
