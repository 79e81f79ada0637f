import Foundation
import StrictJSON

extension ServerFault {
    /// Reads `{"fault":"slow","milliseconds":500,"count":3,"seconds":60,"endpoint":"notificationHistory"}`.
    /// - Throws: ``SimulatorError`` that says what is wrong with it.
    init(json bytes: [UInt8], now: Date) throws {
        guard let root = try? JSONDocument(bytes).root, root.kind == .object else {
            throw SimulatorError("a fault is a JSON object like {\"fault\":\"slow\",\"milliseconds\":500}")
        }
        let known: Set = ["fault", "endpoint", "count", "seconds", "milliseconds", "errorCode"]
        if let strange = root.members.first(where: { !known.contains($0.key) }) {
            throw SimulatorError("\(strange.key) is none of \(known.sorted().joined(separator: ", "))")
        }
        self.init(kind: try Self.name(root["fault"], of: "fault"))
        if let value = root["endpoint"] { endpoint = try Self.name(value, of: "endpoint") }
        if let count = try Self.number(root, "count") { remaining = Int(count) }
        if let seconds = try Self.number(root, "seconds") { end = now.addingTimeInterval(Double(seconds)) }
        if let milliseconds = try Self.number(root, "milliseconds") { delay = .milliseconds(milliseconds) }
        if let code = try Self.number(root, "errorCode") {
            guard (4_000_000..<6_000_000).contains(code) else {
                throw SimulatorError("errorCode must be one of Apple's seven digits, like 5000001")
            }
            errorCode = code
        }
    }

    private static func name<Name: RawRepresentable & CaseIterable>(
        _ value: JSONValue?, of member: String
    ) throws -> Name where Name.RawValue == String {
        guard let name = value?.string.flatMap(Name.init) else {
            throw SimulatorError("\(member) must be one of \(Name.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return name
    }

    private static func number(_ root: JSONValue, _ member: String) throws -> Int64? {
        guard let value = root[member] else { return nil }
        guard let number = value.int64, (0...1_000_000_000).contains(number) else {
            throw SimulatorError("\(member) must be a whole number, not negative")
        }
        return number
    }

    /// Writes the fault as it is read, with the requests that are left.
    func write(to json: inout JSONWriter) {
        json.member("fault", kind.rawValue)
        if let endpoint { json.member("endpoint", endpoint.rawValue) }
        if let remaining { json.member("count", remaining) }
        switch kind {
        case .slow, .storm: json.member("milliseconds", Int64(delay.milliseconds))
        case .error: json.member("errorCode", errorCode)
        case .close, .expiredTokens, .noURL: break
        }
    }
}
