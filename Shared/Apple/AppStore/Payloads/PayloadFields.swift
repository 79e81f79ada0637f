import StrictJSON

import struct Foundation.Date

/// Reads members by the type that is wanted. A member that is missing or null is nil; one of another kind is a fault where
/// it decides who may use what and until when (`read`), and otherwise nil and an oddity (`attempt`): an odd price must not
/// keep a refund from taking effect.
///
/// A class, because it takes down what is odd while a payload reads.
package final class PayloadFields {
    private let object: JSONValue
    /// In the order in which they were read.
    package private(set) var oddities: [PayloadOddity] = []

    package init(_ json: JSONValue) throws(PayloadFault) {
        guard json.kind == .object else { throw PayloadFault(field: "", expected: "a JSON object") }
        object = json
    }

    package func read(_ name: String) throws(PayloadFault) -> String? {
        try read(name, "a string") { $0.string }
    }

    package func read(_ name: String) throws(PayloadFault) -> Int64? {
        try read(name, "an integer") { $0.int64 }
    }

    package func read(_ name: String) throws(PayloadFault) -> Bool? {
        try read(name, "true or false") { $0.bool }
    }

    package func read(_ name: String) throws(PayloadFault) -> Date? {
        try read(name, "a number of milliseconds") { $0.double.map(AppleDate.date(from:)) }
    }

    package func read(_ name: String) throws(PayloadFault) -> RawJSON? {
        try read(name, "JSON") { RawJSON(Array($0.rawBytes)) }
    }

    package func read(_ name: String) throws(PayloadFault) -> [String]? {
        try read(name, "an array of strings") { value in
            guard value.kind == .array else { return nil }
            let strings = value.elements.compactMap(\.string)
            return strings.count == value.elements.count ? strings : nil
        }
    }

    /// A JWS as bytes, to be verified or forwarded.
    package func read(_ name: String) throws(PayloadFault) -> [UInt8]? {
        try read(name, "a string") { $0.unescapedBytes }
    }

    package func read(_ name: String) throws(PayloadFault) -> [[UInt8]]? {
        try read(name, "an array of strings") { value in
            guard value.kind == .array else { return nil }
            let strings = value.elements.compactMap(\.unescapedBytes)
            return strings.count == value.elements.count ? strings : nil
        }
    }

    /// A JWS in text; nil where the verifier has put the object that it signs in its place.
    package func readSigned(_ name: String) throws(PayloadFault) -> String? {
        object[name]?.kind == .object ? nil : try read(name)
    }

    /// An empty text is none: Apple's servers send it for what they do not know themselves.
    package func read<Value: OpenEnumeration>(_ name: String) throws(PayloadFault) -> Value?
    where Value.RawValue == String {
        guard let raw: String = try read(name) else { return nil }
        return familiar(Value(rawValue: raw), name, isNone: raw.isEmpty)
    }

    package func read<Value: OpenEnumeration>(_ name: String) throws(PayloadFault) -> Value?
    where Value.RawValue == Int64 {
        guard let raw: Int64 = try read(name) else { return nil }
        return familiar(Value(rawValue: raw), name)
    }

    package func attempt(_ name: String) -> String? { attempt(name) { () throws(PayloadFault) in try read(name) } }
    package func attempt(_ name: String) -> Int64? { attempt(name) { () throws(PayloadFault) in try read(name) } }
    /// A number of this object, or else of an object within it.
    package func attempt(_ name: String, _ inner: String) -> Int64? {
        if let number: Int64 = attempt(name) { return number }
        return attempt("\(inner).\(name)") { () throws(PayloadFault) in
            guard let value = member(inner), value.kind == .object else { return nil }
            return try PayloadFields(value).read(name)
        }
    }

    package func attempt(_ name: String) -> [String]? { attempt(name) { () throws(PayloadFault) in try read(name) } }

    package func attempt<Value: OpenEnumeration>(_ name: String) -> Value? where Value.RawValue == String {
        attempt(name) { () throws(PayloadFault) in try read(name) }
    }

    package func attempt<Value: OpenEnumeration>(_ name: String) -> Value? where Value.RawValue == Int64 {
        attempt(name) { () throws(PayloadFault) in try read(name) }
    }

    package func read<Value: Payload>(_ name: String) throws(PayloadFault) -> Value? {
        guard let value = member(name) else { return nil }
        do {
            return try Value(json: value)
        } catch {
            let path = error.field.isEmpty ? name : "\(name).\(error.field)"
            throw PayloadFault(field: path, expected: error.expected)
        }
    }

    /// The fault of an element is that of the array, with its place.
    package func read<Value: Payload>(_ name: String) throws(PayloadFault) -> [Value]? {
        guard let array = member(name) else { return nil }
        guard array.kind == .array else { throw PayloadFault(field: name, expected: "an array") }
        var values: [Value] = []
        for (index, element) in array.elements.enumerated() {
            do {
                values.append(try Value(json: element))
            } catch {
                let path = error.field.isEmpty ? "\(name)[\(index)]" : "\(name)[\(index)].\(error.field)"
                throw PayloadFault(field: path, expected: error.expected)
            }
        }
        return values
    }

    /// A payload two levels down.
    package func read<Value: Payload>(_ outer: String, _ name: String) throws(PayloadFault) -> Value? {
        guard let value = member(outer) else { return nil }
        let fields = try PayloadFields(value)
        do {
            return try fields.read(name)
        } catch {
            throw PayloadFault(field: "\(outer).\(error.field)", expected: error.expected)
        }
    }

    private func attempt<Value>(_ name: String, _ read: () throws(PayloadFault) -> Value?) -> Value? {
        do {
            return try read()
        } catch {
            oddities.append(PayloadOddity(field: name, kind: .unreadable))
            return nil
        }
    }

    private func familiar<Value: OpenEnumeration>(_ value: Value, _ name: String, isNone: Bool = false) -> Value {
        if !value.isKnown, !isNone { oddities.append(PayloadOddity(field: name, kind: .unknownValue)) }
        return value
    }

    private func member(_ name: String) -> JSONValue? {
        object[name].flatMap { $0.isNull ? nil : $0 }
    }

    private func read<Value>(
        _ name: String, _ expected: String, _ convert: (JSONValue) -> Value?
    ) throws(PayloadFault) -> Value? {
        guard let member = member(name) else { return nil }
        guard let value = convert(member) else { throw PayloadFault(field: name, expected: expected) }
        return value
    }
}

extension JSONWriter {
    package mutating func field(_ name: String, _ value: String?) { if let value { member(name, value) } }
    package mutating func field(_ name: String, _ value: Int64?) { if let value { member(name, value) } }
    package mutating func field(_ name: String, _ value: Bool?) { if let value { member(name, value) } }
    package mutating func field(_ name: String, _ value: RawJSON?) { if let value { member(name, raw: value.bytes) } }

    package mutating func field(_ name: String, _ value: Date?) {
        if let value { member(name, AppleDate.milliseconds(of: value)) }
    }

    package mutating func field(_ name: String, _ value: [String]?) {
        guard let value else { return }
        beginArray(name)
        for string in value { element(string) }
        endArray()
    }

    package mutating func field(_ name: String, _ value: [UInt8]?) {
        if let value { member(name, String(decoding: value, as: UTF8.self)) }
    }

    package mutating func field(_ name: String, _ value: [[UInt8]]) {
        field(name, value.map { String(decoding: $0, as: UTF8.self) })
    }

    package mutating func field(_ name: String, _ value: [some Payload]) {
        beginArray(name)
        for element in value { self.element(raw: element.json) }
        endArray()
    }

    package mutating func field<Value: OpenEnumeration>(_ name: String, _ value: Value?)
    where Value.RawValue == String {
        field(name, value?.rawValue)
    }

    package mutating func field<Value: OpenEnumeration>(_ name: String, _ value: Value?)
    where Value.RawValue == Int64 {
        field(name, value?.rawValue)
    }

    package mutating func field(_ name: String, _ value: (some Payload)?) {
        if let value { member(name, raw: value.json) }
    }
}
