import CRDKafka

/// An error of Kafka or its client.
///
/// Callers switch on `meaning`, never on the text.
public struct KafkaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The raw code: positive from the broker (the protocol's numbers), negative from the client.
    public let code: Int32
    /// The code's name, such as `REQUEST_TIMED_OUT`; stable enough for a metric's label.
    public let name: String
    /// What happened, as a sentence.
    public let message: String
    /// True if the client cannot be used any more, whatever the code.
    public let isFatal: Bool

    /// - Parameters:
    ///   - code: as librdkafka numbers it.
    ///   - doing: what was attempted, put before librdkafka's message.
    ///   - detail: librdkafka's message, if it has one for this case.
    public init(code: Int32, doing: String? = nil, detail: String? = nil, isFatal: Bool = false) {
        let error = rd_kafka_resp_err_t(rawValue: code)
        self.code = code
        self.name = String(cString: rd_kafka_err2name(error))
        let words = detail.flatMap { $0.isEmpty ? nil : $0 } ?? String(cString: rd_kafka_err2str(error))
        self.message = doing.map { "\($0): \(words)" } ?? words
        self.isFatal = isFatal || code == RD_KAFKA_RESP_ERR__FATAL.rawValue
    }

    /// What to do about it.
    public var meaning: Meaning { isFatal ? .fatal : Meaning(code: code) }

    /// The message with the code's name.
    public var description: String { "\(message) (\(name))" }
}

extension KafkaError {
    package init(_ error: rd_kafka_resp_err_t, doing: String? = nil, detail: String? = nil, isFatal: Bool = false) {
        self.init(code: error.rawValue, doing: doing, detail: detail, isFatal: isFatal)
    }

    /// Throws unless the code is success.
    package static func check(_ error: rd_kafka_resp_err_t, doing: @autoclosure () -> String) throws {
        guard error != RD_KAFKA_RESP_ERR_NO_ERROR else { return }
        throw KafkaError(error, doing: doing())
    }

    /// A closed client was called.
    static func closed(_ what: String) -> KafkaError {
        KafkaError(RD_KAFKA_RESP_ERR__DESTROY, detail: "the \(what) is closed and takes no more calls")
    }
}
