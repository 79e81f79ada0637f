/// A type by the server's object identifier, which is the same on every server for the types we use.
public struct PostgresType: Sendable, Hashable {
    let oid: UInt32

    init(_ oid: UInt32) { self.oid = oid }

    static let bool = PostgresType(16)
    static let bytes = PostgresType(17)
    static let name = PostgresType(19)
    static let int64 = PostgresType(20)
    static let int16 = PostgresType(21)
    static let int32 = PostgresType(23)
    static let text = PostgresType(25)
    static let json = PostgresType(114)
    static let jsonArray = PostgresType(199)
    static let double = PostgresType(701)
    static let boolArray = PostgresType(1000)
    static let bytesArray = PostgresType(1001)
    static let int16Array = PostgresType(1005)
    static let int32Array = PostgresType(1007)
    static let textArray = PostgresType(1009)
    static let int64Array = PostgresType(1016)
    static let doubleArray = PostgresType(1022)
    static let blankPadded = PostgresType(1042)
    static let varchar = PostgresType(1043)
    static let timestamp = PostgresType(1184)
    static let timestampArray = PostgresType(1185)
    static let uuid = PostgresType(2950)
    static let uuidArray = PostgresType(2951)
    static let jsonb = PostgresType(3802)

    /// Whether a column of type `other` arrives in the same binary form.
    func reads(_ other: PostgresType) -> Bool {
        if self == other { return true }
        switch self {
        case .text: return [.name, .blankPadded, .varchar, .json].contains(other)
        case .json: return [.jsonb, .text].contains(other)
        default: return false
        }
    }
}
