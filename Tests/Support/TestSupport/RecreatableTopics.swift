import Development
import Foundation
import Kafka
import Synchronization

/// A development broker whose topics can be deleted and created again, which librdkafka's mock cluster cannot do.
///
/// Its clients connect through a proxy that gives each incarnation of a topic another name of the same length, so a topic's name
/// must occur in nothing else that they send.
package final class RecreatableTopics: Sendable {
    package let broker: DevelopmentBroker
    package let configuration: KafkaConfiguration
    private let names: TopicNames
    private let listeners: [ProxyListener]

    package init(topics: [(name: String, partitions: Int)]) throws {
        broker = try DevelopmentBroker(topics: topics, logger: .quiet)
        names = TopicNames(topics.map(\.name))
        for (name, _) in topics {
            // Creates it, and answers questions about it with UNKNOWN_TOPIC_OR_PART.
            broker.setError(3, ofTopic: TopicNames.placeholder(of: name))
        }
        let ports = broker.bootstrapServers.split(separator: ",").compactMap { UInt16($0.split(separator: ":")[1]) }
        listeners = try ports.map { [names] port in try ProxyListener(to: port, names: names) }
        names.use(ports: Dictionary(uniqueKeysWithValues: zip(ports, listeners.map(\.port))))
        configuration = KafkaConfiguration(
            bootstrapServers: listeners.map { "127.0.0.1:\($0.port)" }.joined(separator: ","),
            overrides: DevelopmentBroker.clientOverrides)
    }

    /// How other processes connect.
    package var environment: [String: String] {
        broker.environment.merging(["KAFKA_BOOTSTRAP_SERVERS": configuration.bootstrapServers]) { $1 }
    }

    /// From now on the brokers do not know the topic.
    package func delete(_ name: String) { names.delete(name) }

    /// An empty topic of the same name.
    package func create(_ name: String, partitions: Int) throws {
        try names.create(name) { try broker.createTopic($0, partitions: partitions) }
    }
}

/// What the topics are called behind the proxy.
private final class TopicNames: Sendable {
    private struct State {
        var current: [String: String?]
        var incarnations = 0
        var ports: [UInt16: UInt16] = [:]
    }
    private let state: Mutex<State>

    init(_ names: [String]) {
        state = Mutex(State(current: Dictionary(uniqueKeysWithValues: names.map { ($0, $0) })))
    }

    static func placeholder(of name: String) -> String { name.dropLast(3) + "---" }
    /// The broker never hears of it, so it answers UNKNOWN_TOPIC_OR_PART.
    private static func unknown(_ name: String) -> String { name.dropLast(3) + "___" }

    func use(ports: [UInt16: UInt16]) { state.withLock { $0.ports = ports } }

    func delete(_ name: String) { state.withLock { $0.current[name] = .some(nil) } }

    func create(_ name: String, _ body: (String) throws -> Void) throws {
        let next = state.withLock { state in
            state.incarnations += 1
            return String(name.dropLast(3)) + String(format: "%03d", state.incarnations)
        }
        try body(next)
        state.withLock { $0.current[name] = next }
    }

    /// A frame with its length.
    func request(_ frame: Data) -> Data {
        let isMetadata = frame.count > 5 && frame[4] == 0 && frame[5] == 3
        let current = state.withLock { $0.current }
        var frame = frame
        for (name, actual) in current where actual != name {
            frame.replaceAll(
                name, with: actual ?? (isMetadata ? Self.placeholder(of: name) : Self.unknown(name)))
        }
        return frame
    }

    func answer(_ frame: Data) -> Data {
        let (current, ports) = state.withLock { ($0.current, $0.ports) }
        var frame = frame
        for (name, actual) in current {
            for alias in [actual, Self.placeholder(of: name), Self.unknown(name)] where alias != name {
                if let alias { frame.replaceAll(alias, with: name) }
            }
        }
        for (own, proxied) in ports {
            frame.replaceAll(Self.address(own), with: Self.address(proxied))
        }
        return frame
    }

    /// As in the answers to Metadata and FindCoordinator.
    private static func address(_ port: UInt16) -> Data {
        Data("127.0.0.1".utf8) + [0, 0, UInt8(port >> 8), UInt8(port & 255)]
    }
}

extension Data {
    fileprivate mutating func replaceAll(_ old: String, with new: String) {
        replaceAll(Data(old.utf8), with: Data(new.utf8))
    }

    fileprivate mutating func replaceAll(_ old: Data, with new: Data) {
        var start = startIndex
        while let found = range(of: old, in: start..<endIndex) {
            replaceSubrange(found, with: new)
            start = found.upperBound
        }
    }
}

/// Accepts connections as long as it lives, and passes each on to a port of this machine.
private final class ProxyListener: Sendable {
    let port: UInt16
    private let socket: Int32

    init(to target: UInt16, names: TopicNames) throws {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0, Self.withAddress(of: 0, { bind(socket, $0, $1) }) == 0, listen(socket, 64) == 0 else {
            throw POSIXError(.EADDRNOTAVAIL)
        }
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
        }
        port = UInt16(bigEndian: address.sin_port)
        self.socket = socket
        Thread.detachNewThread {
            while true {
                let client = accept(socket, nil, nil)
                guard client >= 0 else { return }
                let server = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                guard Self.withAddress(of: target, { connect(server, $0, $1) }) == 0 else {
                    close(client)
                    close(server)
                    continue
                }
                Self.pass(from: client, to: server, names.request)
                Self.pass(from: server, to: client, names.answer)
            }
        }
    }

    deinit { shutdown(socket, Int32(SHUT_RDWR)) }

    private static func pass(from source: Int32, to target: Int32, _ change: @escaping @Sendable (Data) -> Data) {
        var flag: Int32 = 1
        setsockopt(target, Int32(IPPROTO_TCP), TCP_NODELAY, &flag, socklen_t(MemoryLayout<Int32>.size))
        Thread.detachNewThread {
            while let length = read(4, from: source),
                let body = read(length.reduce(0) { $0 << 8 | Int($1) }, from: source),
                write(change(length + body), to: target)
            {}
            // The sockets stay open for the other direction; a test has few.
            shutdown(source, Int32(SHUT_RDWR))
            shutdown(target, Int32(SHUT_RDWR))
        }
    }

    private static func read(_ count: Int, from socket: Int32) -> Data? {
        var data = Data(count: count)
        var done = 0
        while done < count {
            let got = data.withUnsafeMutableBytes { buffer in
                buffer.baseAddress.map { recv(socket, $0 + done, count - done, 0) } ?? -1
            }
            guard got > 0 else { return nil }
            done += got
        }
        return data
    }

    private static func write(_ data: Data, to socket: Int32) -> Bool {
        var done = 0
        while done < data.count {
            let sent = data.withUnsafeBytes { buffer in
                buffer.baseAddress.map { send(socket, $0 + done, data.count - done, Int32(MSG_NOSIGNAL)) } ?? -1
            }
            guard sent > 0 else { return false }
            done += sent
        }
        return true
    }

    private static func withAddress(of port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
