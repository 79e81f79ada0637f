import NIOCore
import Synchronization

/// Counts the places that each address uses. Once half of them are in use, no address gets more than a share.
///
/// Addresses of one IPv6 network count as one, see ``SourceAddress/network(of:)``.
///
/// Below that there is no limit per address: Apple posts from few addresses, and a rejected notification returns an hour later.
final class AddressShares: Sendable {
    private struct State {
        var taken = 0
        var byNetwork: [String: Int] = [:]
    }

    private let places: Int
    private let share: Int
    private let state = Mutex(State())

    /// - Parameter share: of the places, 0 to 1; at least one place.
    init(places: Int, share: Double) {
        self.places = places
        self.share = max(1, Int(Double(places) * share))
    }

    /// Takes a place; false where the address has its share already.
    func enter(_ address: String) -> Bool {
        let network = SourceAddress.network(of: address)
        return state.withLock { state in
            let own = state.byNetwork[network, default: 0]
            guard own < share || state.taken < places / 2 else { return false }
            state.byNetwork[network] = own + 1
            state.taken += 1
            return true
        }
    }

    /// Returns a place.
    func leave(_ address: String) {
        let network = SourceAddress.network(of: address)
        state.withLock { state in
            guard let own = state.byNetwork[network] else { return }
            state.byNetwork[network] = own > 1 ? own - 1 : nil
            state.taken -= 1
        }
    }
}

/// The address of a client.
enum SourceAddress {
    /// The peer's address; for a proxy with a private address, the last entry of `X-Forwarded-For`, which the proxy itself has
    /// added. Nil where a peer with a private address sends none.
    ///
    /// A proxy of this deployment has a private address; the header of a client with a public address is not trusted.
    static func of(peer: String?, forwardedFor: String?) -> String? {
        guard let peer else { return nil }
        guard isPrivate(peer) else { return peer }
        // By bytes: with U+0600 at the end of what the client sent, the proxy's comma is no character of its own, and the client
        // would choose its address.
        guard let last = forwardedFor?.utf8.split(separator: UInt8(ascii: ",")).last else { return nil }
        let address = last.drop { $0 == UInt8(ascii: " ") }.prefix { $0 != UInt8(ascii: " ") }
        // An address is never that long.
        return address.isEmpty || address.count > 45 ? nil : String(decoding: address, as: UTF8.self)
    }

    /// The first 64 bits of an IPv6 address, because one client has all addresses of such a network; the IPv4 address of one
    /// that is written as IPv6; any other text unchanged.
    static func network(of address: String) -> String {
        guard address.utf8.contains(UInt8(ascii: ":")),
            case .v6(let parsed) = try? SocketAddress(ipAddress: address, port: 0)
        else { return address }
        let bytes = withUnsafeBytes(of: parsed.address.sin6_addr) { Array($0) }
        if bytes.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]) {
            return bytes[12...].map { String($0) }.joined(separator: ".")
        }
        return bytes[..<8].map { String($0, radix: 16) }.joined(separator: ":") + "/64"
    }

    /// Loopback, RFC 1918, link-local and unique local addresses.
    static func isPrivate(_ address: String) -> Bool {
        let text = address.lowercased()
        if text == "::1" || text.hasPrefix("fc") || text.hasPrefix("fd") || text.hasPrefix("fe80:") { return true }
        let mapped = text.hasPrefix("::ffff:") ? text.dropFirst("::ffff:".count) : text[...]
        let numbers = mapped.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        guard numbers.count == 4, let first = numbers[0], let second = numbers[1] else { return false }
        switch first {
        case 10, 127: return true
        case 172: return (16...31).contains(second)
        case 192: return second == 168
        case 169: return second == 254
        default: return false
        }
    }
}
