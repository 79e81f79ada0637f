import Foundation
import Kafka
import Testing

@testable import Pipeline

@Suite struct PositionEvidenceTests {
    /// The writer of a record chooses its timestamp, and brokers before 4.0 take any.
    @Test(arguments: [Int64.max, .min, 0, 1_767_225_600_000])
    func `A record is evidence whatever its timestamp`(milliseconds: Int64) {
        let record = ConsumerRecord(
            topic: "t", partition: 0, offset: 7, timestamp: Date(timeIntervalSince1970: Double(milliseconds) / 1000),
            key: nil, value: [1], headers: [])
        let read = PositionEvidence.Record(record)
        let evidence = PositionEvidence().adding(first: read, last: read)
        #expect(evidence.records == [read] && PositionEvidence(text: evidence.text) == evidence)
    }

    @Test(arguments: ["9223372036854775807:1", "-1:1", "7", "7:", ":1", "a:b", "restarted:a"])
    func `A text that any client may have committed is no evidence and ends no worker`(text: String) {
        let evidence = PositionEvidence(text: text)
        #expect(evidence.end == TopicPartitionOffset.beginning && evidence == PositionEvidence())
        #expect(PositionEvidence(text: "7:1 \(text)").end == 8)
    }
}
