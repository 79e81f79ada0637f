/// An address of the internet protocol: 4 bytes, or 16.
package struct NetworkAddress: Sendable, Hashable, CustomStringConvertible {
    /// In network order.
    package let bytes: [UInt8]

    /// - Parameter bytes: 4 or 16; nil otherwise.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// `192.0.2.1` or `2001:db8::1`, in the forms that RFC 3986 knows: four decimal numbers without leading zeros; hexadecimal
    /// groups, of which the last two may be such numbers. No zone.
    package init?(_ text: String) {
        if let four = Self.four(text) {
            bytes = four
            return
        }
        guard let sixteen = Self.sixteen(text) else { return nil }
        bytes = sixteen
    }

    /// As connections want it.
    package var description: String {
        if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
        return stride(from: 0, to: 16, by: 2).map {
            String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16)
        }.joined(separator: ":")
    }

    /// Whether it is of this machine: 127.0.0.0/8 or ::1.
    package var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
    }

    private static func four(_ text: String) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        let numbers = parts.compactMap { part -> UInt8? in
            guard part.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), part == "0" || !part.hasPrefix("0") else { return nil }
            return UInt8(part)
        }
        return numbers.count == 4 ? numbers : nil
    }

    private static func sixteen(_ text: String) -> [UInt8]? {
        let halves = text.split(separator: "::", maxSplits: 2, omittingEmptySubsequences: false)
        guard text.contains(":"), halves.count <= 2, !text.contains(":::") else { return nil }
        let read = halves.enumerated().map { groups(String($0.element), isLast: $0.offset == halves.count - 1) }
        guard let first = read[0] else { return nil }
        guard halves.count == 2 else { return first.count == 16 ? first : nil }
        guard let last = read[1], first.count + last.count <= 14 else { return nil }
        return first + [UInt8](repeating: 0, count: 16 - first.count - last.count) + last
    }

    private static func groups(_ text: String, isLast: Bool) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        var bytes: [UInt8] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (place, part) in parts.enumerated() {
            if isLast, place == parts.count - 1, part.contains(".") {
                guard let four = four(String(part)) else { return nil }
                bytes += four
                continue
            }
            guard 1...4 ~= part.utf8.count, part.utf8.allSatisfy({ isHexadecimal($0) }),
                let group = UInt16(part, radix: 16)
            else { return nil }
            bytes += [UInt8(group >> 8), UInt8(group & 0xff)]
        }
        return bytes.count <= 16 ? bytes : nil
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        0x30...0x39 ~= byte || 0x41...0x46 ~= byte || 0x61...0x66 ~= byte
    }
}

/// A range of addresses, as `10.0.0.0/8`.
package struct NetworkRange: Sendable, Hashable, CustomStringConvertible {
    package let first: NetworkAddress
    /// Leading bits that all addresses share.
    package let prefix: Int

    /// Nil where the text is no range, or has bits behind its prefix.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let first = NetworkAddress(String(parts[0])), let prefix = UInt8(parts[1]),
            Int(prefix) <= first.bytes.count * 8
        else { return nil }
        self.first = first
        self.prefix = Int(prefix)
        guard contains(first), (Int(prefix)..<first.bytes.count * 8).allSatisfy({ !first.hasBit($0) }) else {
            return nil
        }
    }

    /// As it was written.
    package var description: String { "\(first)/\(prefix)" }

    /// Whether an address of the same family has its leading bits.
    package func contains(_ address: NetworkAddress) -> Bool {
        address.bytes.count == first.bytes.count && (0..<prefix).allSatisfy { first.hasBit($0) == address.hasBit($0) }
    }
}

extension NetworkAddress {
    fileprivate func hasBit(_ place: Int) -> Bool { bytes[place / 8] >> (7 - UInt8(place % 8)) & 1 == 1 }
}
