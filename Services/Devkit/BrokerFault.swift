import Commands
import Development
import Kafka

/// A fault of the embedded broker, as one line of text.
enum BrokerFault: Equatable {
    /// Nil is every broker of the cluster.
    case down(Int32?)
    case up(Int32?)
    case slow(milliseconds: Int, broker: Int32?)
    /// The next `count` requests of a kind get this error code of the protocol; 0 takes back what is left.
    case error(DevelopmentBroker.Request, code: Int32, count: Int)
    /// The next request of a kind is answered that late by one broker.
    case late(DevelopmentBroker.Request, milliseconds: Int, broker: Int32)
    case coordinator(group: String, broker: Int32)
    case leader(TopicPartition, broker: Int32)

    /// The lines that are understood.
    static let help = """
        down [BROKER] | up [BROKER] | slow MILLISECONDS [BROKER] | error REQUEST CODE [COUNT] | late REQUEST MILLISECONDS BROKER \
        | coordinator GROUP BROKER | leader TOPIC PARTITION BROKER. REQUEST is one of \
        \(DevelopmentBroker.Request.allCases.map { "\($0)" }.joined(separator: ", ")); CODE is the protocol's, \
        \(DevelopmentBroker.disconnect) closes the connection and 0 ends earlier errors; BROKER counts from 1.
        """

    /// - Throws: `CommandError` that says how a line is written.
    init(_ line: String) throws {
        let words = line.split(separator: " ").map(String.init)
        let fault: BrokerFault? =
            switch (words.first, words.count) {
            case ("down", 1): .down(nil)
            case ("down", 2): Int32(words[1]).map { .down($0) }
            case ("up", 1): .up(nil)
            case ("up", 2): Int32(words[1]).map { .up($0) }
            case ("slow", 2): Int(words[1]).map { .slow(milliseconds: $0, broker: nil) }
            case ("slow", 3): Self.slow(words)
            case ("error", 3...4): Self.error(words)
            case ("late", 4): Self.late(words)
            case ("coordinator", 3): Int32(words[2]).map { .coordinator(group: words[1], broker: $0) }
            case ("leader", 4): Self.leader(words)
            default: nil
            }
        guard let fault else { throw CommandError("“\(line)” is no fault of a broker; write \(Self.help)") }
        self = fault
    }

    private static func slow(_ words: [String]) -> BrokerFault? {
        guard let milliseconds = Int(words[1]), let broker = Int32(words[2]) else { return nil }
        return .slow(milliseconds: milliseconds, broker: broker)
    }

    private static func error(_ words: [String]) -> BrokerFault? {
        guard let request = request(words[1]), let code = Int32(words[2]),
            let count = words.count == 4 ? Int(words[3]) : 1, count > 0
        else { return nil }
        return .error(request, code: code, count: count)
    }

    private static func late(_ words: [String]) -> BrokerFault? {
        guard let request = request(words[1]), let milliseconds = Int(words[2]), let broker = Int32(words[3]) else {
            return nil
        }
        return .late(request, milliseconds: milliseconds, broker: broker)
    }

    private static func request(_ word: String) -> DevelopmentBroker.Request? {
        DevelopmentBroker.Request.allCases.first { "\($0)" == word }
    }

    private static func leader(_ words: [String]) -> BrokerFault? {
        guard let partition = Int32(words[2]), let broker = Int32(words[3]) else { return nil }
        return .leader(TopicPartition(topic: words[1], partition: partition), broker: broker)
    }

    /// - Throws: `KafkaError` where there is no such broker or partition.
    func apply(to cluster: DevelopmentBroker) throws {
        switch self {
        case .down(let broker): try cluster.takeDown(broker: broker)
        case .up(let broker): try cluster.bringUp(broker: broker)
        case .slow(let milliseconds, let broker):
            try cluster.setRoundTrip(.milliseconds(milliseconds), broker: broker)
        case .error(let request, code: 0, count: _): cluster.clearErrors(of: request)
        case .error(let request, let code, let count):
            cluster.inject([Int32](repeating: code, count: count), into: request)
        case .late(let request, let milliseconds, let broker):
            try cluster.inject(0, after: .milliseconds(milliseconds), into: request, broker: broker)
        case .coordinator(let group, let broker): try cluster.setCoordinator(ofGroup: group, broker: broker)
        case .leader(let partition, let broker): try cluster.setLeader(of: partition, broker: broker)
        }
    }
}
