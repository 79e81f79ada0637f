/// One value of a validated document.
///
/// A view: it keeps the whole document alive and copies only what is read.
///
/// The typed properties are nil where the value is of another kind; nothing is converted (a string `"1"` is no number).
public struct JSONValue: Sendable {
    let storage: JSONStorage
    let index: Int

    var node: JSONNode { storage.tape[index] }

    /// What kind of value this is.
    public var kind: JSONKind { node.kind }

    /// `null` is a value here; a missing member is a nil `JSONValue`.
    public var isNull: Bool { node.kind == .null }

    /// `true` or `false`.
    public var bool: Bool? {
        node.kind == .bool ? storage.bytes[Int(node.start)] == UInt8(ascii: "t") : nil
    }

    /// The number if it is integral and fits, however it was written (`1.0` is 1).
    ///
    /// Nil for fractions.
    public var int64: Int64? { node.kind == .number ? JSONNumber.int64(rawBytes) : nil }

    /// The number, nearest representable; nil beyond the range of `Double`.
    public var double: Double? { node.kind == .number ? JSONNumber.double(rawBytes) : nil }

    /// The content of a string, unescaped.
    public var string: String? {
        guard node.kind == .string else { return nil }
        if node.isEscaped { return unescapedBytes.map { String(decoding: $0, as: UTF8.self) } }
        return String(decoding: storage.bytes[contentBounds], as: UTF8.self)
    }

    /// The content of a string as UTF-8, without a `String` in between.
    ///
    /// A copy.
    public var unescapedBytes: [UInt8]? {
        guard node.kind == .string else { return nil }
        let content = storage.bytes[contentBounds]
        return node.isEscaped ? content.withUnsafeBufferPointer(JSONUnescaping.unescape) : Array(content)
    }

    /// Where in `JSONDocument.bytes` the content of a string stands, if it stands there as it is, without escapes.
    public var plainRange: Range<Int>? {
        node.kind == .string && !node.isEscaped ? contentBounds : nil
    }

    /// Where in `JSONDocument.bytes` the value stands, quotes and brackets included.
    public var range: Range<Int> { Int(node.start)..<Int(node.end) }

    /// The exact source text of the value, quotes and brackets included.
    ///
    /// Shares the document's storage.
    public var rawBytes: ArraySlice<UInt8> { storage.bytes[range] }

    /// Between the quotes.
    private var contentBounds: Range<Int> { Int(node.start) + 1..<Int(node.end) - 1 }
}

extension JSONValue {
    /// The member of an object by its name, compared byte for byte.
    ///
    /// Nil where there is none, or no object.
    public subscript(_ key: String) -> JSONValue? {
        guard node.kind == .object else { return nil }
        var key = key
        return key.withUTF8 { name in
            var child = index + 1
            let end = Int(node.next)
            while child < end {
                if storage.isKey(child, named: name) { return JSONValue(storage: storage, index: child + 1) }
                child = Int(storage.tape[child + 1].next)
            }
            return nil
        }
    }

    /// The elements of an array in order; empty where this is no array.
    public var elements: [JSONValue] {
        guard node.kind == .array else { return [] }
        return childIndices(step: 0).map { JSONValue(storage: storage, index: $0) }
    }

    /// The members of an object in order; empty where this is no object.
    public var members: [(key: String, value: JSONValue)] {
        guard node.kind == .object else { return [] }
        return childIndices(step: 1).map {
            (JSONValue(storage: storage, index: $0).string ?? "", JSONValue(storage: storage, index: $0 + 1))
        }
    }

    /// Indices of the children; with a step of 1, of the keys whose values follow them.
    private func childIndices(step: Int) -> [Int] {
        var indices: [Int] = []
        var child = index + 1
        while child < Int(node.next) {
            indices.append(child)
            child = Int(storage.tape[child + step].next)
        }
        return indices
    }
}

extension JSONStorage {
    fileprivate func isKey(_ index: Int, named name: UnsafeBufferPointer<UInt8>) -> Bool {
        let node = tape[index]
        let start = Int(node.start) + 1
        let length = Int(node.end) - 1 - start
        if node.isEscaped {
            return bytes[start..<start + length].withUnsafeBufferPointer(JSONUnescaping.unescape).elementsEqual(name)
        }
        guard length == name.count else { return false }
        return bytes.withUnsafeBufferPointer { buffer in
            for offset in 0..<length where buffer[start + offset] != name[offset] { return false }
            return true
        }
    }
}
