import Foundation
import StrictJSON

/// What JSONDocument accepts, Foundation accepts too, and every value of it is readable.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let document = try? JSONDocument(bytes) else { return 0 }
    precondition(String(validating: bytes, as: UTF8.self) != nil, "accepted what is not UTF-8")
    // Foundation rejects numbers beyond the range of Double, which are valid JSON; JSONDocument has no Double for them.
    let mayHoldHugeNumber = bytes.contains { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") } || count > 300
    precondition(
        (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil || mayHoldHugeNumber,
        "accepted what Foundation rejects")
    look(at: document.root, in: bytes, depth: 0)
    return 0
}

private func look(at value: JSONValue, in bytes: [UInt8], depth: Int) {
    precondition(depth <= 16, "deeper than allowed")
    precondition(Array(bytes[value.range]) == Array(value.rawBytes), "a range that is not the text")
    precondition((try? JSONDocument(Array(value.rawBytes))) != nil, "a part that is not JSON by itself")
    switch value.kind {
    case .object:
        var names: Set<String> = []
        for (name, member) in value.members {
            precondition(!name.utf8.contains(0), "NUL in a name")
            precondition(names.insert(name).inserted || !isUnique(name, in: value), "a name twice")
            precondition(value[name]?.range == member.range, "a member that is not found by its name")
            look(at: member, in: bytes, depth: depth + 1)
        }
    case .array:
        for element in value.elements { look(at: element, in: bytes, depth: depth + 1) }
    case .string:
        let content = value.unescapedBytes
        precondition(content != nil && value.string.map { Array($0.utf8) } == content, "two contents of a string")
        precondition(content?.contains(0) == false, "NUL in a string")
    case .number: _ = (value.int64, value.double)
    case .bool: precondition(value.bool != nil)
    case .null: precondition(value.isNull)
    }
}

/// Swift's strings are equal where Unicode says so; names are compared byte for byte.
private func isUnique(_ name: String, in object: JSONValue) -> Bool {
    object.members.filter { Array($0.key.utf8) == Array(name.utf8) }.count > 1
}
