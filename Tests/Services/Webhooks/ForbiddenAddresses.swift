import WebhookDelivery

/// Addresses to which nothing may be sent, in the forms in which URLs and names lead to them.
enum ForbiddenAddresses {
    /// The first and the last of each range, and the ones that attackers ask for.
    private static let four = [
        "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1",
        "127.255.255.254", "169.254.0.0", "169.254.169.254", "169.254.255.255", "172.16.0.0", "172.31.255.255",
        "192.0.0.0", "192.0.0.255", "192.0.2.0", "192.0.2.255", "192.31.196.1", "192.52.193.1", "192.88.99.1",
        "192.168.0.0", "192.168.255.255", "192.175.48.1", "198.18.0.0", "198.19.255.255", "198.51.100.0",
        "198.51.100.255", "203.0.113.0", "203.0.113.255", "224.0.0.0", "239.255.255.255", "240.0.0.0",
        "255.255.255.255",
    ]

    private static let six = [
        "::", "::1", "::2", "64:ff9b:1::1", "64:ff9b:1:ffff::1", "100::", "100::ffff:ffff:ffff:ffff", "100:0:0:1::1",
        // Teredo, with a server and a client inside.
        "2001::1", "2001:0:7f00:1::80ff:fffe", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:2::1", "2001:10::1",
        "2001:20::1", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8::1",
        "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2620:4f:8000::1", "3fff::1", "3fff:fff:ffff::1", "4000::1",
        "5f00::1", "fc00::", "fd00:ec2::254", "fdff:ffff::1", "fe80::1", "fe80::a9fe:a9fe", "febf:ffff::1", "fec0::1",
        "feff::1", "ff01::1", "ff02::1", "ff0e::1",
    ]

    /// One inside: mapped, compatible, translated, NAT64 and 6to4.
    private static func embedded(_ four: String) -> [String] {
        let bytes = NetworkAddress(four)?.bytes.map { UInt16($0) } ?? []
        let groups = "\(hex(bytes[0] << 8 | bytes[1])):\(hex(bytes[2] << 8 | bytes[3]))"
        return ["::ffff:\(four)", "::\(four)", "::ffff:0:\(four)", "64:ff9b::\(four)", "2002:\(groups)::1"]
    }

    /// What a resolver may answer.
    static let answers = four + four.flatMap { embedded($0) } + six

    /// Hosts of URLs: the same with numbers in the other notations that resolvers read, and with what names this machine.
    static let hosts: [String] =
        ["127.0.0.1", "0.0.0.0", "10.0.0.1", "169.254.169.254", "192.168.1.1"].flatMap { notations($0) } + [
            "0", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]", "[2001:0:7f00:1::1]", "[fe80::1]", "[fe80::1%25lo]", "[::1%25lo]", "[::1%lo]",
            "[fd00:ec2::254]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::ffff:0x7f.1]", "localhost", "LOCALHOST", "a.localhost",
            "localhost.localdomain", "localhost.", "127.0.0.1.", "user@127.0.0.1", "user:secret@127.0.0.1",
            "127.0.0.1#@example.com", "example.com\\@127.0.0.1", "127.0.0.1%00.example.com", "①②⑦.0.0.1",
            "127。0。0。1", "%31%32%37.0.0.1",
        ]

    private static func notations(_ four: String) -> [String] {
        let bytes = NetworkAddress(four)?.bytes.map { UInt32($0) } ?? []
        let number = bytes.reduce(0) { $0 << 8 | $1 }
        func octal(_ byte: UInt32) -> String { "0" + String(byte, radix: 8) }
        return [
            four, "\(number)", "0x\(String(number, radix: 16))", octal(number),
            bytes.map(octal).joined(separator: "."),
            bytes.map { "0x" + String($0, radix: 16) }.joined(separator: "."),
            "\(bytes[0]).\(number & 0xff_ffff)", "\(bytes[0]).\(bytes[1]).\(number & 0xffff)",
            "\(bytes[0]).0\(String(bytes[1], radix: 8)).0x\(String(bytes[2], radix: 16)).\(bytes[3])",
        ]
    }

    private static func hex(_ group: UInt16) -> String { String(group, radix: 16) }
}
