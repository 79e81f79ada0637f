import Foundation

/// A broker of the cluster, and whether this machine reaches it.
public struct BrokerState: Sendable, Hashable {
    /// Its number in the cluster.
    public var id: Int32
    /// As it tells its clients.
    public var host: String
    /// As it tells its clients.
    public var port: Int32
    /// Whether it accepts a connection.
    public var isReachable: Bool

    /// Host and port, with brackets around an IPv6 address, as `bootstrap.servers` has them.
    public var address: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension KafkaAdmin {
    /// Every broker that the cluster names, by number.
    /// - Parameter patience: for a connection to each of them, all at once.
    /// - Throws: `KafkaError` where no broker answers at all.
    public nonisolated func brokers(within patience: Duration) async throws -> [BrokerState] {
        try await withThrowingTaskGroup(of: BrokerState.self) { group in
            for broker in try await brokerAddresses() {
                group.addTask {
                    var broker = broker
                    broker.isReachable = await BlockingRequest().ask { [broker] in
                        acceptsConnection(host: broker.host, port: broker.port, within: patience)
                    }
                    return broker
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.id < $1.id }
        }
    }
}

/// Connects to the first address of a host that answers, and hangs up. Blocks up to the time limit for each address.
private func acceptsConnection(host: String, port: Int32, within limit: Duration) -> Bool {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var first: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &first) == 0 else { return false }
    defer { freeaddrinfo(first) }
    var next = first
    while let address = next?.pointee {
        next = address.ai_next
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
        let connection = socket(address.ai_family, type, 0)
        guard connection >= 0 else { continue }
        defer { close(connection) }
        if connect(connection, address.ai_addr, address.ai_addrlen) == 0 { return true }
        guard errno == EINPROGRESS else { continue }
        var event = pollfd(fd: connection, events: Int16(POLLOUT), revents: 0)
        guard poll(&event, 1, limit.wholeMilliseconds) > 0 else { continue }
        var error: Int32 = -1
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(connection, SOL_SOCKET, SO_ERROR, &error, &size)
        if error == 0 { return true }
    }
    return false
}
