import Testing

@testable import Ingest

@Suite struct AddressSharesTests {
    @Test func `AddressShares limits an address to its share once half of all places are in use, and admits others`() {
        let shares = AddressShares(places: 40, share: 0.125)
        let taken = (0..<40).filter { _ in shares.enter("203.0.113.7") }.count
        #expect(taken == 20)
        #expect((0..<5).allSatisfy { _ in shares.enter("17.58.0.1") })
        #expect(!shares.enter("17.58.0.1"))
        #expect(shares.enter("17.58.0.2"))
    }

    @Test func `AddressShares counts the addresses of an IPv6 network as one`() {
        let shares = AddressShares(places: 40, share: 0.125)
        let taken = (1...40).filter { shares.enter("2001:db8::\(String($0, radix: 16))") }.count
        #expect(taken == 20)
        #expect(shares.enter("2001:db8:0:1::1"))
        shares.leave("2001:DB8:0:0:ffff::")
        #expect(!shares.enter("2001:db8::1"))
    }

    @Test(
        arguments: [
            ("203.0.113.7", "203.0.113.7"), ("::ffff:203.0.113.7", "203.0.113.7"), ("::FFFF:cb00:7107", "203.0.113.7"),
            ("2001:db8:0:1::1", "20:1:d:b8:0:0:0:1/64"), ("2001:DB8:0:1:ffff::", "20:1:d:b8:0:0:0:1/64"),
            ("2001:db8::1:1", "20:1:d:b8:0:0:0:0/64"), ("unknown", "unknown"), ("203.0.113.7:80", "203.0.113.7:80"),
        ])
    func `Source counts by its network where it is an IPv6 address`(address: String, network: String) {
        #expect(SourceAddress.network(of: address) == network)
    }

    @Test func `AddressShares frees a place that is returned`() {
        let shares = AddressShares(places: 2, share: 0.5)
        #expect(shares.enter("a"))
        #expect(!shares.enter("a"))
        shares.leave("a")
        #expect(shares.enter("a"))
        shares.leave("never came")
        #expect(!shares.enter("a"))
    }

    @Test(
        arguments: [
            ("203.0.113.7", nil, "203.0.113.7"),
            // The header of a proxy with a private address is trusted, and only the entry that it added itself.
            ("203.0.113.7", "17.1.1.1", "203.0.113.7"),
            ("10.0.0.4", "17.1.1.1", "17.1.1.1"),
            ("::ffff:172.20.0.3", "6.6.6.6, 17.1.1.1", "17.1.1.1"),
            ("127.0.0.1", nil, nil),
            ("192.168.1.1", "", nil),
            ("fd00::3", "2001:db8::1", "2001:db8::1"),
            // A character that joins the next one to itself does not hide the proxy's comma.
            ("10.0.0.4", "6.6.6.6\u{600}, 17.1.1.1", "17.1.1.1"),
            ("10.0.0.4", "6.6.6.6\u{600},17.1.1.1", "17.1.1.1"),
            ("10.0.0.4", String(repeating: "x", count: 9000), nil),
            (nil, "17.1.1.1", nil),
        ] as [(String?, String?, String?)])
    func `Source is the peer, or what a proxy with a private address says`(
        peer: String?, forwardedFor: String?, expected: String?
    ) {
        #expect(SourceAddress.of(peer: peer, forwardedFor: forwardedFor) == expected)
    }
}
