import StrictJSON

import struct Foundation.UUID

/// The part of JSON Schema 2020-12 that `openapi.json` uses. A keyword that is not listed here fails the start, so that
/// the document cannot promise a check that is not made.
struct Schema: Sendable {
    enum Kind: String, Sendable {
        case object, array, string, integer, number, boolean, null
    }

    /// A name under `components/schemas`; everything else is empty then.
    var reference: String?
    /// Empty: any.
    var kinds: [Kind] = []
    var properties: [String: Schema] = [:]
    var required: [String] = []
    /// `additionalProperties: false`.
    var isClosed = false
    /// `items`; one element or none.
    var items: [Schema] = []
    var oneOf: [Schema] = []
    var choices: [String] = []
    /// `not` with an `enum`: texts that it is none of.
    var exclusions: [String] = []
    var isUUID = false
    /// `format: date-time`.
    var isMoment = false
    var lengths: ClosedRange<Int> = 0...Int.max
    var counts: ClosedRange<Int> = 0...Int.max
    var numbers: ClosedRange<Int64> = .min ... .max

    /// What says nothing about validity.
    private static let annotations: Set = ["title", "description", "example", "examples", "default", "deprecated"]

    /// - Parameter place: where it stands, for the error.
    init(_ json: JSONValue, at place: String) throws(DocumentFault) {
        guard json.kind == .object else { throw DocumentFault(place, "a schema is an object") }
        for (keyword, value) in json.members where !Self.annotations.contains(keyword) {
            try read(keyword, value, at: "\(place)/\(keyword)")
        }
    }

    private mutating func read(_ keyword: String, _ value: JSONValue, at place: String) throws(DocumentFault) {
        switch keyword {
        case "$ref": reference = try Self.schemaName(value, at: place)
        case "type":
            for name in value.kind == .array ? value.elements : [value] {
                guard let kind = name.string.flatMap(Kind.init(rawValue:)) else {
                    throw DocumentFault(place, "an unknown type")
                }
                kinds.append(kind)
            }
        case "properties":
            for (name, property) in value.members { properties[name] = try Schema(property, at: "\(place)/\(name)") }
        case "required": required = value.elements.compactMap(\.string)
        case "additionalProperties":
            guard value.bool == false else { throw DocumentFault(place, "only false is understood") }
            isClosed = true
        case "items": items = [try Schema(value, at: place)]
        case "oneOf":
            for (index, one) in value.elements.enumerated() { oneOf.append(try Schema(one, at: "\(place)/\(index)")) }
        case "enum": choices = value.elements.compactMap(\.string)
        case "not":
            guard value.members.count == 1, let texts = value["enum"]?.elements.compactMap(\.string) else {
                throw DocumentFault(place, "only an enum is understood")
            }
            exclusions = texts
        case "format":
            switch value.string {
            case "uuid": isUUID = true
            case "date-time": isMoment = true
            case "int64": break
            default: throw DocumentFault(place, "an unknown format")
            }
        case "minLength": lengths = try Self.whole(value, at: place)...lengths.upperBound
        case "maxLength": lengths = lengths.lowerBound...(try Self.whole(value, at: place))
        case "minItems": counts = try Self.whole(value, at: place)...counts.upperBound
        case "maxItems": counts = counts.lowerBound...(try Self.whole(value, at: place))
        case "minimum": numbers = Int64(try Self.whole(value, at: place))...numbers.upperBound
        case "maximum": numbers = numbers.lowerBound...Int64(try Self.whole(value, at: place))
        default: throw DocumentFault(place, "a keyword that the service does not check")
        }
    }

    static func schemaName(_ value: JSONValue, at place: String) throws(DocumentFault) -> String {
        let prefix = "#/components/schemas/"
        guard let reference = value.string, reference.hasPrefix(prefix) else {
            throw DocumentFault(place, "a reference that does not begin with \(prefix)")
        }
        return String(reference.dropFirst(prefix.count))
    }

    private static func whole(_ value: JSONValue, at place: String) throws(DocumentFault) -> Int {
        guard let number = value.int64 else { throw DocumentFault(place, "not a whole number") }
        return Int(number)
    }

    /// Names under `components/schemas` that it needs.
    var references: [String] {
        (reference.map { [$0] } ?? []) + (properties.values + items + oneOf).flatMap(\.references)
    }
}

/// Why the document cannot be served.
struct DocumentFault: Error, CustomStringConvertible {
    var place: String
    var problem: String

    init(_ place: String, _ problem: String) {
        self.place = place
        self.problem = problem
    }

    var description: String { "openapi.json: \(place): \(problem)" }
}
