import StrictJSON

import struct Foundation.UUID

/// One thing that is wrong with a value, and where.
struct ValueFault: Sendable, Equatable {
    /// JSON pointer (RFC 6901) into the body, or the name of a parameter.
    var pointer: String
    var detail: String
}

/// Checks values against the schemas of the document.
struct SchemaCheck: Sendable {
    /// `components/schemas`.
    let schemas: [String: Schema]
    /// Whether an object with members that its schema does not describe is at fault, although it may have more: answers are
    /// open for additions, and a build describes all of its own.
    var refusesUndescribed = false
    /// What Apple signed, whose members are passed on whether they are described or not.
    private static let passedOn: Set = ["Transaction", "RenewalInfo"]
    /// No more are reported: a body of 500 wrong rows needs no 500 sentences.
    private static let limit = 10

    /// Empty where the value is as described.
    func faults(of value: JSONValue, by schema: Schema) -> [ValueFault] {
        var faults: [ValueFault] = []
        check(value, schema, "", &faults)
        return faults
    }

    private func check(_ value: JSONValue, _ schema: Schema, _ pointer: String, _ faults: inout [ValueFault]) {
        guard faults.count < Self.limit else { return }
        func fault(_ detail: String) { faults.append(ValueFault(pointer: pointer, detail: detail)) }
        if let name = schema.reference {
            guard let target = schemas[name] else { return fault("is described by a schema that does not exist") }
            var check = self
            if Self.passedOn.contains(name) { check.refusesUndescribed = false }
            return check.check(value, target, pointer, &faults)
        }
        guard schema.kinds.isEmpty || schema.kinds.contains(where: { $0.matches(value) }) else {
            return fault("must be \(schema.kinds.map(\.phrase).joined(separator: " or "))")
        }
        if !schema.oneOf.isEmpty {
            guard schema.oneOf.count(where: { self.faults(of: value, by: $0).isEmpty }) == 1 else {
                return fault("must be exactly one of the \(schema.oneOf.count) forms in the document")
            }
        }
        switch value.kind {
        case .object: checkMembers(of: value, schema, pointer, &faults)
        case .array:
            let elements = value.elements
            guard schema.counts.contains(elements.count) else {
                return fault("must have \(Self.phrase(schema.counts)) elements, not \(elements.count)")
            }
            guard let items = schema.items.first else { return }
            for (index, element) in elements.enumerated() { check(element, items, "\(pointer)/\(index)", &faults) }
        case .string:
            if let detail = schema.fault(ofText: value.string ?? "") { fault(detail) }
        case .number:
            if let number = value.int64, !schema.numbers.contains(number) {
                fault("must be between \(schema.numbers.lowerBound) and \(schema.numbers.upperBound)")
            }
        case .bool, .null: break
        }
    }

    private func checkMembers(
        of value: JSONValue, _ schema: Schema, _ pointer: String, _ faults: inout [ValueFault]
    ) {
        for (name, member) in value.members {
            let place = "\(pointer)/\(Self.escaped(name))"
            if let property = schema.properties[name] {
                check(member, property, place, &faults)
            } else if schema.isClosed || refusesUndescribed && !schema.properties.isEmpty, faults.count < Self.limit {
                let known = schema.properties.keys.sorted().joined(separator: ", ")
                faults.append(ValueFault(pointer: place, detail: "is not a known member; known are \(known)"))
            }
        }
        for name in schema.required where value[name] == nil && faults.count < Self.limit {
            faults.append(ValueFault(pointer: "\(pointer)/\(Self.escaped(name))", detail: "is required"))
        }
    }

    private static func escaped(_ name: String) -> String {
        String(name.prefix(200)).replacing("~", with: "~0").replacing("/", with: "~1")
    }

    static func phrase(_ range: ClosedRange<Int>) -> String {
        range.upperBound == .max ? "at least \(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
    }
}

extension Schema {
    /// Why a text is not as described; nil where it is.
    func fault(ofText text: String) -> String? {
        if !choices.isEmpty, !choices.contains(text) { return "must be one of \(choices.joined(separator: ", "))" }
        if exclusions.contains(text) { return "is a text that another form is for" }
        if isMoment, !Self.isMoment(text) { return "must be a time like 2026-01-01T00:00:00.000Z" }
        if isUUID, UUID(uuidString: text) == nil { return "must be a UUID like 7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b" }
        // A character has one to four bytes, so that most texts, signed ones above all, need no count.
        let bytes = text.utf8.count
        if bytes <= lengths.upperBound, (bytes + 3) / 4 >= lengths.lowerBound { return nil }
        let length = text.unicodeScalars.count
        return lengths.contains(length)
            ? nil : "must have \(SchemaCheck.phrase(lengths)) characters, not \(length)"
    }

    /// True for a text that is written as `Date.iso8601` writes times: in UTC, with milliseconds.
    private static func isMoment(_ text: String) -> Bool {
        let pattern = "0000-00-00T00:00:00.000Z"
        return text.utf8.count == pattern.utf8.count
            && zip(text.utf8, pattern.utf8).allSatisfy { byte, wanted in
                wanted == UInt8(ascii: "0") ? (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) : byte == wanted
            }
    }

    /// Why the text of a parameter is not as described; nil where it is.
    func fault(ofParameter text: String) -> String? {
        guard kinds.contains(.integer) else { return fault(ofText: text) }
        guard let number = Int64(text) else { return "must be a whole number" }
        return numbers.contains(number) ? nil : "must be between \(numbers.lowerBound) and \(numbers.upperBound)"
    }
}

extension Schema.Kind {
    func matches(_ value: JSONValue) -> Bool {
        switch self {
        case .object: value.kind == .object
        case .array: value.kind == .array
        case .string: value.kind == .string
        case .integer: value.int64 != nil
        case .number: value.double != nil
        case .boolean: value.kind == .bool
        case .null: value.isNull
        }
    }

    var phrase: String {
        switch self {
        case .object, .array, .integer: "an \(rawValue)"
        case .string, .number, .boolean: "a \(rawValue)"
        case .null: "null"
        }
    }
}
