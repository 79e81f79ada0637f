/// What a person may do. Each role may do what those before it may.
enum Role: String, Sendable, CaseIterable, Comparable {
    /// Sees everything but customers' ids and payloads.
    case viewer
    /// Sees customers, gives them access and asks Apple about them.
    case support
    /// Replays and dismisses dead letters, recovers windows.
    case operatorRole = "operator"
    /// Everything.
    case admin

    static func < (left: Role, right: Role) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// `ann=admin,*=viewer`; nil where a role is unknown or a name is there twice.
    @Sendable static func table(_ text: String) -> [String: Role]? {
        var table: [String: Role] = [:]
        for entry in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = entry.split(separator: "=", maxSplits: 1).map { part in
                String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            }
            guard parts.count == 2, !parts[0].isEmpty, let role = Role(rawValue: parts[1]),
                table.updateValue(role, forKey: parts[0]) == nil
            else { return nil }
        }
        return table
    }

    /// The role of a name or of a claim's value. By bytes, as OpenID Connect Core 1.0 demands in its section 14: to Swift the sign of the
    /// kelvin, U+212A, is a K, and a person with such a name would have another person's role.
    static func of(_ name: String, in table: [String: Role]) -> Role? {
        guard let place = table.index(forKey: name), table[place].key.utf8.elementsEqual(name.utf8) else { return nil }
        return table[place].value
    }
}
