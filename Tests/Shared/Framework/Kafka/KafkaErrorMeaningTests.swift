import CRDKafka
import Testing

@testable import Kafka

@Suite struct KafkaErrorMeaningTests {
    @Test(
        arguments: [
            (RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, KafkaError.Meaning.fenced),
            (RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, .fenced),
            (RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, .fenced), (RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH, .fenced),
            (RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED, .fenced), (RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST, .fenced),
            (RD_KAFKA_RESP_ERR__UNKNOWN_GROUP, .fenced), (RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE, .positionLost),
            (RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET, .positionLost), (RD_KAFKA_RESP_ERR__NO_OFFSET, .positionLost),
            (RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, .missing), (RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, .missing),
            (RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, .missing), (RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, .unacceptable),
            (RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE, .unacceptable), (RD_KAFKA_RESP_ERR_INVALID_MSG, .retry),
            (RD_KAFKA_RESP_ERR_INVALID_RECORD, .unacceptable), (RD_KAFKA_RESP_ERR__AUTHENTICATION, .rejected),
            (RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED, .rejected), (RD_KAFKA_RESP_ERR__SSL, .rejected),
            (RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, .rejected),
            (RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION, .rejected),
            (RD_KAFKA_RESP_ERR_POLICY_VIOLATION, .rejected), (RD_KAFKA_RESP_ERR__FATAL, .fatal),
            (RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, .fatal), (RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, .fatal),
            (RD_KAFKA_RESP_ERR_PRODUCER_FENCED, .fatal), (RD_KAFKA_RESP_ERR__DESTROY, .fatal),
            (RD_KAFKA_RESP_ERR__TRANSPORT, .retry), (RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, .retry),
            (RD_KAFKA_RESP_ERR__QUEUE_FULL, .retry), (RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, .retry),
            (RD_KAFKA_RESP_ERR__TIMED_OUT, .retry), (RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, .retry),
            (RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND, .retry), (RD_KAFKA_RESP_ERR_NOT_COORDINATOR, .retry),
            (RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, .retry), (RD_KAFKA_RESP_ERR__WAIT_COORD, .retry),
            (RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED, .retry), (RD_KAFKA_RESP_ERR__PURGE_QUEUE, .retry),
            (RD_KAFKA_RESP_ERR__PURGE_INFLIGHT, .retry), (RD_KAFKA_RESP_ERR__STATE, .retry),
        ].map { ($0.0.rawValue, $0.1) })
    func `KafkaErrorMeaning gives each error one meaning`(code: Int32, meaning: KafkaError.Meaning) {
        #expect(KafkaError(code: code).meaning == meaning)
    }

    @Test func `KafkaErrorMeaning retries a code of a newer broker`() {
        #expect(KafkaError(code: 9999).meaning == .retry)
    }

    @Test func `KafkaErrorMeaning takes fatal for fatal whatever the code`() {
        #expect(KafkaError(code: RD_KAFKA_RESP_ERR__TRANSPORT.rawValue, isFatal: true).meaning == .fatal)
    }

    @Test func `KafkaError says what was attempted and names the code`() {
        let error = KafkaError(code: 3, doing: "read things/0")
        #expect(error.description.hasPrefix("read things/0: "))
        #expect(error.description.hasSuffix("(UNKNOWN_TOPIC_OR_PART)"))
    }
}
