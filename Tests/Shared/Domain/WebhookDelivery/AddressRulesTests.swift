import Testing

@testable import WebhookDelivery

@Suite struct AddressRulesTests {
    static let forbidden = [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.254", "127.0.0.1", "127.1.2.3",
        "169.254.169.254", "169.254.0.1", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1",
        "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.255",
        "240.0.0.1", "255.255.255.255", "::", "::1", "::2", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
        "::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "::ffff:0:7f00:1", "64:ff9b::7f00:1", "64:ff9b::10.0.0.1",
        "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "2002:a00:1::1", "3fff::1", "5f00::1",
        "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "4000::1", "::ffff:192.168.1.1",
        "2002:a9fe:a9fe::1", "64:ff9b::a9fe:a9fe", "fe80::a9fe:a9fe", "fd12:3456:789a:1::1", "192.175.48.1",
        "192.31.196.1",
    ]
    static let admitted = [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1", "126.255.255.255",
        "128.0.0.1",
        "169.253.255.255", "172.15.255.255", "172.32.0.1", "192.167.255.255", "192.169.0.1", "198.17.255.255",
        "223.255.255.255",
        "2606:4700::1111", "2a00:1450:4001:81b::200e", "2002:808:808::1", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8",
    ]

    @Test(arguments: forbidden)
    func `No request goes to a special address`(text: String) throws {
        let address = try #require(NetworkAddress(text))
        #expect(AddressRules().objection(to: address) != nil)
    }

    @Test(arguments: admitted)
    func `Requests go to public addresses`(text: String) throws {
        let address = try #require(NetworkAddress(text))
        #expect(AddressRules().objection(to: address) == nil)
    }

    @Test func `All ranges can be read`() { #expect(AddressRules.ranges == 37) }

    @Test func `An operator allows ranges, and development mode this machine`() throws {
        let rules = AddressRules(allowed: [try #require(NetworkRange("10.1.0.0/16"))])
        #expect(rules.objection(to: try #require(NetworkAddress("10.1.255.1"))) == nil)
        #expect(rules.objection(to: try #require(NetworkAddress("10.2.0.1"))) != nil)
        #expect(rules.objection(to: try #require(NetworkAddress("::ffff:10.1.0.1"))) == nil)
        let development = AddressRules(allowsLoopback: true)
        #expect(development.objection(to: try #require(NetworkAddress("127.0.0.1"))) == nil)
        #expect(development.objection(to: try #require(NetworkAddress("::1"))) == nil)
        #expect(development.objection(to: try #require(NetworkAddress("10.0.0.1"))) != nil)
    }

    @Test(arguments: ["10.0.0.0", "10.0.0.1/8", "10.0.0.0/33", "::/129", "x/8", "10.0.0.0/-1", "10.0.0.0/8/8", ""])
    func `What is no range is not read as one`(text: String) { #expect(NetworkRange(text) == nil) }

    @Test(arguments: [
        "127.1", "0177.0.0.1", "0x7f.0.0.1", "2130706433", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1..2.3", "",
        ":", ":::", "1::2::3", "::1%lo", "fe80::1%eth0", "12345::", "1:2:3:4:5:6:7:8:9", "::ffff:1.2.3", "1.2.3.4::",
        "+1.2.3.4",
    ])
    func `What is no address is not read as one`(text: String) { #expect(NetworkAddress(text) == nil) }
}

@Suite struct WebhookURLTests {
    @Test(arguments: [
        ("https://example.com", "https://example.com/"),
        ("HTTPS://Example.COM/Hook?x=1", "https://example.com/Hook?x=1"),
        ("https://example.com:443/a", "https://example.com/a"),
        ("https://example.com:8443/", "https://example.com:8443/"),
        ("https://[2606:4700::1]/x", "https://[2606:4700::1]/x"), ("https://1.2.3.4:2000", "https://1.2.3.4:2000/"),
        ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
        ("https://example.com?x", "https://example.com/?x"),
    ])
    func `A URL is read in one way`(text: String, normalized: String) throws {
        #expect(try WebhookURL(text, allowsPlain: false).description == normalized)
    }

    @Test(arguments: [
        "http://example.com/", "ftp://example.com/", "example.com", "https://", "https:///x",
        "https://user@example.com/",
        "https://user:secret@example.com/", "https://example.com@127.0.0.1/", "https://example.com:22/",
        "https://example.com:80/",
        "https://example.com:0/", "https://example.com:65536/", "https://example.com:/", "https://example.com:+443/",
        "https://0x7f.1/", "https://0x7f000001/", "https://2130706433/", "https://0177.0.0.1/", "https://127.1/",
        "https://1.2.3.4.5/",
        "https://exa mple.com/", "https://example.com/\u{0}", "https://example.com/\r\nHost: x",
        "https://bücher.example/",
        "https://example.com\\@127.0.0.1/", "https://[::1%25lo]/", "https://[fe80::1%eth0]/", "https://[::1/",
        "https://[example.com]/",
        "https://example..com/", "https://-a.example/", "https://example.com./", "https://example.com/#part",
        "https://%31%32/",
        "https://[::ffff:0x7f.1]/", "https://①②⑦.0.0.1/", "javascript://example.com/", "https:/example.com",
        "//example.com/",
    ])
    func `No other URL is accepted`(text: String) {
        #expect(throws: WebhookURL.Objection.self) { try WebhookURL(text, allowsPlain: false) }
    }

    @Test func `Development mode accepts http`() throws {
        #expect(
            try WebhookURL("http://127.0.0.1:3000/hook", allowsPlain: true).description == "http://127.0.0.1:3000/hook")
    }
}
