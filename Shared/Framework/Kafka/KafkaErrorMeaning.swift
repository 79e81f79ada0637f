import CRDKafka

extension KafkaError {
    /// What an error requires of the caller.
    public enum Meaning: String, Sendable, Hashable, CaseIterable {
        /// A dependency is unavailable and will recover: repeat after a pause.
        case retry
        /// The partitions are revoked, or are being revoked: drop the batch and take the next turn, which says which
        /// remain. Repeating the same call cannot succeed.
        case fenced
        /// The position is not in the partition: an operator decides where to continue.
        case positionLost
        /// The topic or partition does not exist (yet): wait for `setup`, or run it.
        case missing
        /// The record itself cannot be written, however often it is tried.
        case unacceptable
        /// The broker rejects this configuration: credentials, permissions, versions. Only an operator can repair it.
        case rejected
        /// This client instance cannot be used any more: create another.
        case fatal

        /// The one place that decides what an error means. Unknown codes are `retry`: a newer broker's code
        /// must not stop the pipeline for good, and endless retries show in the metrics.
        public init(code: Int32) {
            switch rd_kafka_resp_err_t(rawValue: code) {

            case RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS,  // the group rebalances; the revocation follows
                RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION,  // the group rebalanced unnoticed
                RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID,  // silent for longer than the session timeout, and removed
                RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH,  // the client's view of the partition is older than its leader's
                RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED,  // not polled for max.poll.interval.ms, and removed
                RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST,  // the client already knows that others own the partitions
                RD_KAFKA_RESP_ERR__UNKNOWN_GROUP,  // commit while not a member
                RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS:  // the revocation is in the queue before the call
                self = .fenced

            case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE,  // retention, or a topic created again, has passed the position
                RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET,  // the same, with a policy of not skipping silently
                RD_KAFKA_RESP_ERR__NO_OFFSET:  // nothing committed where a committed position was demanded
                self = .positionLost

            case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,  // the broker has no such topic or partition
                RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,  // the client has learned that from the metadata
                RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:  // likewise
                self = .missing

            case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,  // over the client's or the broker's message.max.bytes
                RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE,  // over the topic's segment size
                RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE,  // no size a record can have
                RD_KAFKA_RESP_ERR_INVALID_RECORD,  // the broker's own validation turned it down
                RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP,  // outside of what the topic accepts
                RD_KAFKA_RESP_ERR__BAD_MSG,  // the client could not read it
                RD_KAFKA_RESP_ERR__BAD_COMPRESSION:  // likewise
                self = .unacceptable

            case RD_KAFKA_RESP_ERR__AUTHENTICATION,  // wrong user, password or certificate
                RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,  // likewise, in the broker's words
                RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM,
                RD_KAFKA_RESP_ERR_ILLEGAL_SASL_STATE,
                RD_KAFKA_RESP_ERR_SECURITY_DISABLED,
                RD_KAFKA_RESP_ERR__SSL,  // our trust store and their certificate do not fit
                RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,  // known to the broker, but not allowed
                RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
                RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED,
                RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
                RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION,  // broker and client have no version of a request in common
                RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE,
                RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE,
                RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT,
                RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION,  // the name is not a topic's name
                RD_KAFKA_RESP_ERR_INVALID_GROUP_ID,
                RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT,  // outside of what the broker allows
                RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL,  // others of the group run another assignor
                RD_KAFKA_RESP_ERR_GROUP_MAX_SIZE_REACHED,
                RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS,
                RD_KAFKA_RESP_ERR_INVALID_PARTITIONS,
                RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR,
                RD_KAFKA_RESP_ERR_INVALID_REPLICA_ASSIGNMENT,
                RD_KAFKA_RESP_ERR_INVALID_CONFIG,
                RD_KAFKA_RESP_ERR_POLICY_VIOLATION,
                RD_KAFKA_RESP_ERR_INVALID_REQUEST,
                RD_KAFKA_RESP_ERR__INVALID_ARG,
                RD_KAFKA_RESP_ERR__CONFLICT,
                RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED,
                RD_KAFKA_RESP_ERR__NOT_CONFIGURED:
                self = .rejected

            case RD_KAFKA_RESP_ERR__FATAL,  // the client says so itself
                RD_KAFKA_RESP_ERR__FENCED,  // another producer took our identity
                RD_KAFKA_RESP_ERR_PRODUCER_FENCED,  // likewise, in the broker's words
                RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH,  // likewise
                RD_KAFKA_RESP_ERR_INVALID_PRODUCER_ID_MAPPING,
                RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID,  // another consumer took our group.instance.id
                RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER,  // idempotence has lost count
                RD_KAFKA_RESP_ERR__GAPLESS_GUARANTEE,  // likewise
                RD_KAFKA_RESP_ERR__INCONSISTENT,  // likewise
                RD_KAFKA_RESP_ERR__DESTROY:  // closed, by us
                self = .fatal

            default:
                // Connections, leaders and coordinators that move, full queues, timeouts, too few replicas, throttling,
                // bytes that arrived corrupt, purges at shutdown: all of them pass.
                self = .retry
            }
        }
    }
}
