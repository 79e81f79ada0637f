extension PostgresError {
    /// What a caller can do about an error.
    public enum Meaning: Sendable, Equatable {
        /// The connection is gone and with it the open transaction; the next use connects again.
        case connectionLost
        /// The connection broke while a COMMIT was under way: it may have happened. Read before doing it again.
        case commitUnknown
        /// The server gave way to another transaction and undid ours; the same again will probably succeed.
        case repeatable
        /// The server cannot at the moment: full, starting, cancelled by a timeout. Later, with backoff.
        case unavailable
        /// A row with this key exists.
        case uniqueViolation
        /// The row contradicts a constraint other than a key.
        case constraintViolation
        /// The value cannot be stored: text with NUL, a number out of range. Trying again is useless.
        case rejectedValue
        /// Wrong password, unknown role, missing grant: an operator's task.
        case notPermitted
        /// Our statement or our schema is wrong.
        case programming
    }

    /// Whether the cause is outside of the statement, so that the same work may succeed later.
    public var isTransient: Bool {
        switch meaning {
        case .connectionLost, .commitUnknown, .repeatable, .unavailable: true
        case .uniqueViolation, .constraintViolation, .rejectedValue, .notPermitted, .programming: false
        }
    }

    /// For a transaction that finds at its end that another has overtaken it. As with the server's own rejections: roll
    /// back, look again.
    public static let overtaken = PostgresError(.repeatable, "another transaction wrote the same rows first")

    /// The only place where a SQLSTATE gets its meaning.
    static func meaning(ofSQLState state: String) -> Meaning {
        switch state {
        // serialization_failure, deadlock_detected: the server chose us as the one who gives way.
        case "40001", "40P01": return .repeatable
        // lock_not_available: our own lock_timeout or NOWAIT ended the wait; nothing was done.
        case "55P03": return .repeatable
        // statement_completion_unknown: the server itself does not know.
        case "40003": return .commitUnknown
        // admin_shutdown, crash_shutdown, cannot_connect_now, database_dropped, idle_session_timeout: after these
        // the server closes the connection.
        case "57P01", "57P02", "57P03", "57P04", "57P05": return .connectionLost
        // The transaction or idle timeouts end the session as well.
        case "25P03", "25P04": return .connectionLost
        // read_only_sql_transaction: after a failover we still talk to the old primary; connecting again finds the
        // new one.
        case "25006": return .connectionLost
        // query_canceled: statement_timeout, or an operator.
        case "57014": return .unavailable
        // in_failed_sql_transaction: an earlier error of the transaction was swallowed by the caller.
        case "25P02": return .programming
        case "23505": return .uniqueViolation
        // insufficient_privilege stands among the syntax errors, but a grant repairs it.
        case "42501": return .notPermitted
        default: break
        }
        switch state.prefix(2) {
        // connection_exception and its kin.
        case "08": return .connectionLost
        // Every other rollback by the server.
        case "40": return .repeatable
        case "23": return .constraintViolation
        // data_exception: the value does not fit its type.
        case "22": return .rejectedValue
        // invalid_authorization: role or password.
        case "28": return .notPermitted
        // invalid_catalog_name: the database of the URL does not exist.
        case "3D": return .notPermitted
        // insufficient_resources (disk, memory, connections), object_not_in_prerequisite_state,
        // operator_intervention, system_error: the server's trouble, not ours.
        case "53", "55", "57", "58": return .unavailable
        // internal_error and index_corrupted: the same statement may succeed after repair.
        case "XX": return .unavailable
        default: return .programming
        }
    }
}
