import Glibc
import NIOPosix
import WebhookDelivery

/// Finds the addresses of a name.
protocol Resolver: Sendable {
    /// All addresses, at least one.
    /// - Throws: `Unresolved`.
    func addresses(of host: String) async throws(Unresolved) -> [NetworkAddress]
}

/// A name has no address now.
struct Unresolved: Error, CustomStringConvertible {
    let description: String
}

/// The system's resolver, on threads where it may block.
struct SystemResolver: Resolver {
    /// Not those that the process shares, where two names whose servers do not answer would hold up all other endpoints; and as
    /// many as there are places: a request that has one does not wait for lookups of others.
    static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: Places.total)
        threads.start()
        return threads
    }()

    func addresses(of host: String) async throws(Unresolved) -> [NetworkAddress] {
        do {
            return try await Self.threads.runIfActive { try Self.addresses(host) }
        } catch let fault as Unresolved {
            throw fault
        } catch {
            throw Unresolved(description: "\(host) was not looked up: \(error)")
        }
    }

    /// The list belongs to us and is freed here, whatever is in it.
    private static func addresses(_ host: String) throws(Unresolved) -> [NetworkAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &first)
        guard code == 0 else {
            throw Unresolved(description: "\(host) has no address: \(String(cString: gai_strerror(code)))")
        }
        defer { freeaddrinfo(first) }
        var found: [NetworkAddress] = []
        var next = first
        while let entry = next?.pointee {
            if let address = address(entry), !found.contains(address) { found.append(address) }
            next = entry.ai_next
        }
        guard !found.isEmpty else { throw Unresolved(description: "\(host) has no address") }
        return found
    }

    private static func address(_ entry: addrinfo) -> NetworkAddress? {
        guard let socket = UnsafeRawPointer(entry.ai_addr) else { return nil }
        switch entry.ai_family {
        case AF_INET:
            let address = socket.loadUnaligned(as: sockaddr_in.self).sin_addr
            return NetworkAddress(bytes: withUnsafeBytes(of: address) { Array($0) })
        case AF_INET6:
            let address = socket.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            return NetworkAddress(bytes: withUnsafeBytes(of: address) { Array($0) })
        default: return nil
        }
    }
}
