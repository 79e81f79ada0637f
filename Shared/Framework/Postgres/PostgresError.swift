/// What went wrong between us and the database. Switch on `meaning`, never on the text.
public struct PostgresError: Error, Sendable, Equatable {
    /// What a caller can do about it.
    public let meaning: Meaning
    /// Five characters of the SQL standard; nil where the fault was noticed on our side.
    public let sqlState: String?
    /// What happened, in the server's words or ours. Holds no value of any parameter unless the server put it there.
    public private(set) var message: String
    /// The server's second sentence, where it has one that may be logged: of most violations it holds the whole row.
    public let detail: String?
    /// Name of the violated constraint.
    public let constraint: String?
    /// Name of the statement that met it.
    public var statement: String?

    init(
        _ meaning: Meaning, sqlState: String? = nil, _ message: String, detail: String? = nil,
        constraint: String? = nil
    ) {
        self.meaning = meaning
        self.sqlState = sqlState
        self.message = message
        self.detail = Self.mayBeTold(sqlState) ? detail : nil
        self.constraint = constraint
    }

    /// Violated keys name their key and nothing else of the row; deadlocks name processes.
    private static func mayBeTold(_ sqlState: String?) -> Bool {
        switch sqlState {
        case "23505", "23503", "40P01": true
        default: false
        }
    }

    func explained(by explanation: String) -> Self {
        var error = self
        error.message += "; \(explanation)"
        return error
    }

    func during(_ statement: Statement) -> Self {
        var error = self
        error.statement = error.statement ?? statement.name
        return error
    }
}

extension PostgresError: CustomStringConvertible {
    /// One line for the log.
    public var description: String {
        var text = message
        if let detail { text += " (\(detail))" }
        if let sqlState { text += " [SQLSTATE \(sqlState)]" }
        if let statement { text += " in statement “\(statement)”" }
        return text
    }
}
