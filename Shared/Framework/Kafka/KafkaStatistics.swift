import Foundation

/// Statistics of a client, every `statistics.interval.ms`: the few numbers that operators need.
public struct KafkaStatistics: Sendable, Hashable {
    /// One connection.
    public struct Broker: Sendable, Hashable {
        /// `host:port/id`.
        public var name: String
        /// `UP`, `DOWN`, `CONNECT` … as librdkafka names them.
        public var state: String
        /// Mean over the last interval, in seconds; 0 without a request.
        public var roundTrip: Double
        /// Requests not sent yet.
        public var waitingRequests: Int

        /// Whether a connection is there, or none was needed yet.
        var isReachable: Bool { !["DOWN", "TRY_CONNECT", "CONNECT"].contains(state) }
    }

    /// `rdkafka#producer-1`.
    public var client: String
    /// Records in the producer's queue or in flight.
    public var queuedRecords: Int
    /// Their bytes.
    public var queuedBytes: Int
    /// Every broker the client knows, sorted by name.
    public var brokers: [Broker]

    /// `2 of 3 brokers reachable, not kafka-2:9092/2`; nil where all are.
    public var unreachableBrokers: String? {
        let lost = brokers.filter { !$0.isReachable }
        guard !lost.isEmpty else { return nil }
        let names = lost.map(\.name).joined(separator: ", ")
        return "\(brokers.count - lost.count) of \(brokers.count) brokers reachable, not \(names)"
    }

    /// - Parameter json: what librdkafka emits.
    /// - Returns: nil if it is something else.
    public init?(json: [UInt8]) {
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(json)) else { return nil }
        client = document.name
        queuedRecords = document.queuedRecords ?? 0
        queuedBytes = document.queuedBytes ?? 0
        brokers = document.brokers.values
            // Group coordinators and bootstrap servers appear a second time under a negative number.
            .filter { $0.nodeid >= 0 }
            .map { broker in
                Broker(
                    name: broker.name, state: broker.state, roundTrip: Double(broker.rtt?.avg ?? 0) / 1_000_000,
                    waitingRequests: broker.waitingRequests)
            }
            .sorted { $0.name < $1.name }
    }
}

/// The members of librdkafka's document that are used.
private struct Document: Decodable {
    struct Broker: Decodable {
        struct Window: Decodable { var avg: Int }
        var name: String
        var nodeid: Int
        var state: String
        var waitingRequests: Int
        var rtt: Window?

        enum CodingKeys: String, CodingKey {
            case name, nodeid, state, rtt
            case waitingRequests = "outbuf_cnt"
        }
    }
    var name: String
    var queuedRecords: Int?
    var queuedBytes: Int?
    var brokers: [String: Broker]

    enum CodingKeys: String, CodingKey {
        case name, brokers
        case queuedRecords = "msg_cnt"
        case queuedBytes = "msg_size"
    }
}
