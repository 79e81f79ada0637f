/// To which addresses webhooks may be sent: to those of the public internet, and to ranges that an operator allowed. Without
/// this, who may create an endpoint could make the service send requests within its own network.
package struct AddressRules: Sendable, Equatable {
    /// Ranges that an operator allowed.
    package var allowed: [NetworkRange]
    /// Whether receivers on this machine are allowed, for development.
    package var allowsLoopback: Bool

    /// The public internet, where nothing is given.
    package init(allowed: [NetworkRange] = [], allowsLoopback: Bool = false) {
        self.allowed = allowed
        self.allowsLoopback = allowsLoopback
    }

    /// Why requests may not go to an address, a clause; nil where they may.
    package func objection(to address: NetworkAddress) -> String? {
        if allowed.contains(where: { $0.contains(address) }) || allowsLoopback && address.isLoopback { return nil }
        for (range, name) in Self.special where range.contains(address) { return "\(address) is \(name)" }
        // An address of the other family inside: it must be allowed itself.
        for (range, place) in Self.embedding where range.contains(address) {
            guard let inner = NetworkAddress(bytes: Array(address.bytes[place..<place + 4])) else { continue }
            return objection(to: inner).map { "\(address) leads to an address that is not allowed: \($0)" }
        }
        // Of the sixth version only 2000::/3 is in use as public addresses.
        if address.bytes.count == 16, address.bytes[0] & 0xe0 != 0x20 { return "\(address) is no public address" }
        return nil
    }

    /// [IPv4](https://www.iana.org/assignments/iana-ipv4-special-registry) and
    /// [IPv6](https://www.iana.org/assignments/iana-ipv6-special-registry) special-purpose addresses, and multicast.
    private static let special: [(range: NetworkRange, name: String)] = [
        ("0.0.0.0/8", "of this network"), ("10.0.0.0/8", "private"), ("100.64.0.0/10", "of a carrier's NAT"),
        ("127.0.0.0/8", "of this machine"), ("169.254.0.0/16", "link-local"), ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"), ("192.0.2.0/24", "for documentation"), ("192.31.196.0/24", "reserved"),
        ("192.52.193.0/24", "reserved"), ("192.88.99.0/24", "reserved"), ("192.168.0.0/16", "private"),
        ("192.175.48.0/24", "reserved"), ("198.18.0.0/15", "for benchmarks"), ("198.51.100.0/24", "for documentation"),
        ("203.0.113.0/24", "for documentation"), ("224.0.0.0/4", "multicast"), ("240.0.0.0/4", "reserved"),
        ("::/128", "no address"), ("::1/128", "of this machine"), ("64:ff9b:1::/48", "of a local NAT64"),
        ("100::/64", "for discarding"), ("100:0:0:1::/64", "reserved"), ("2001::/23", "reserved"),
        ("2001:db8::/32", "for documentation"), ("2620:4f:8000::/48", "reserved"), ("3fff::/20", "for documentation"),
        ("5f00::/16", "for segment routing"), ("fc00::/7", "private"), ("fe80::/10", "link-local"),
        ("fec0::/10", "private"), ("ff00::/8", "multicast"),
    ].compactMap { text, name in NetworkRange(text).map { ($0, name) } }

    /// Ranges whose addresses hold one of the fourth version, and the byte at which it begins: mapped, compatible, translated, NAT64
    /// and 6to4.
    private static let embedding: [(range: NetworkRange, place: Int)] = [
        ("::ffff:0:0/96", 12), ("::/96", 12), ("::ffff:0:0:0/96", 12), ("64:ff9b::/96", 12), ("2002::/16", 2),
    ].compactMap { text, place in NetworkRange(text).map { ($0, place) } }

    /// Of every range above, so that a test notices one that cannot be read.
    package static let ranges = special.count + embedding.count
}
