/// Appends JSON to an array of bytes, member by member.
///
/// It writes commas and escapes; the caller closes what it opens. Kept small on purpose: our
/// messages are flat, and what Apple sent is spliced in with `raw` without being encoded again.
public struct JSONWriter: Sendable {
    /// What has been written so far.
    public private(set) var bytes: [UInt8] = []
    private var needsComma = false

    /// An empty text with room for `capacity` bytes.
    public init(capacity: Int = 256) { bytes.reserveCapacity(capacity) }

    /// Opens an object, as the whole text or as an element.
    public mutating func beginObject() { begin(UInt8(ascii: "{")) }
    /// Opens an object as a member.
    public mutating func beginObject(_ key: String) { beginMember(key, UInt8(ascii: "{")) }
    /// Closes the object opened last.
    public mutating func endObject() { end(UInt8(ascii: "}")) }
    /// Opens an array, as the whole text or as an element.
    public mutating func beginArray() { begin(UInt8(ascii: "[")) }
    /// Opens an array as a member.
    public mutating func beginArray(_ key: String) { beginMember(key, UInt8(ascii: "[")) }
    /// Closes the array opened last.
    public mutating func endArray() { end(UInt8(ascii: "]")) }

    /// A string member; `null` where the value is nil.
    public mutating func member(_ key: String, _ value: String?) {
        writeKey(key)
        if let value { writeString(value) } else { writeText("null") }
    }

    /// An integer member; `null` where the value is nil.
    public mutating func member(_ key: String, _ value: Int64?) {
        writeKey(key)
        if let value { writeInteger(value) } else { writeText("null") }
    }

    /// An integer member; `null` where the value is nil.
    public mutating func member(_ key: String, _ value: Int?) { member(key, value.map(Int64.init)) }

    /// A boolean member; `null` where the value is nil.
    public mutating func member(_ key: String, _ value: Bool?) {
        writeKey(key)
        writeText(value.map { $0 ? "true" : "false" } ?? "null")
    }

    /// A member whose value is JSON already, spliced in byte for byte.
    ///
    /// The caller vouches that it is one value.
    public mutating func member(_ key: String, raw value: some Collection<UInt8>) {
        writeKey(key)
        bytes.append(contentsOf: value)
        needsComma = true
    }

    /// A string element of an array.
    public mutating func element(_ value: String) {
        separate()
        writeString(value)
    }

    /// An integer element of an array.
    public mutating func element(_ value: Int64) {
        separate()
        writeInteger(value)
    }

    /// An element that is JSON already, spliced in byte for byte.
    ///
    /// The caller vouches that it is one value.
    public mutating func element(raw value: some Collection<UInt8>) {
        separate()
        bytes.append(contentsOf: value)
        needsComma = true
    }

    /// An array of strings as a member.
    public mutating func strings(_ key: String, of values: some Sequence<String>) {
        beginArray(key)
        for value in values { element(value) }
        endArray()
    }

    /// An array of objects as a member, one for each item.
    /// - Parameter write: the object's members.
    public mutating func objects<Items: Sequence>(
        _ key: String, of items: Items, _ write: (inout JSONWriter, Items.Element) throws -> Void
    ) rethrows {
        beginArray(key)
        for item in items {
            beginObject()
            try write(&self, item)
            endObject()
        }
        endArray()
    }

    private mutating func begin(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func beginMember(_ key: String, _ bracket: UInt8) {
        writeKey(key)
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func end(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
    }

    private mutating func writeKey(_ key: String) {
        separate()
        writeString(key)
        bytes.append(UInt8(ascii: ":"))
    }

    /// Without a string of its own: a report has hundreds of thousands of numbers.
    private mutating func writeInteger(_ value: Int64) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        let first = bytes.count
        var rest = value.magnitude
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        var (low, high) = (first, bytes.count - 1)
        while low < high {
            bytes.swapAt(low, high)
            (low, high) = (low + 1, high - 1)
        }
        needsComma = true
    }

    private mutating func writeText(_ text: String) {
        bytes.append(contentsOf: text.utf8)
        needsComma = true
    }

    private mutating func writeString(_ value: String) {
        bytes.append(UInt8(ascii: "\""))
        var value = value
        value.withUTF8 { content in
            var written = 0
            for index in content.indices {
                let byte = content[index]
                guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
                bytes.append(contentsOf: content[written..<index])
                writeEscape(byte)
                written = index + 1
            }
            bytes.append(contentsOf: content[written...])
        }
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    private mutating func writeEscape(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x00..<0x20:
            let digits = Array("0123456789abcdef".utf8)
            bytes.append(contentsOf: "u00".utf8)
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 15)])
        default: bytes.append(byte)
        }
    }
}
