import CPQ

/// Owns one `PGresult`.
final class ResultHandle {
    private let pointer: OpaquePointer

    init(takingOwnershipOf pointer: OpaquePointer) { self.pointer = pointer }

    deinit { PQclear(pointer) }

    var status: ExecStatusType { PQresultStatus(pointer) }

    /// What the server says it did, e.g. `COMMIT`; a COMMIT of a failed transaction says `ROLLBACK`.
    var commandTag: String { String(cString: PQcmdStatus(pointer)) }

    /// nil unless the statement failed.
    var error: PostgresError? {
        switch status {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_PIPELINE_SYNC, PGRES_EMPTY_QUERY: return nil
        case PGRES_PIPELINE_ABORTED:
            return PostgresError(.programming, "an earlier statement of the pipeline failed")
        default: break
        }
        let message = field(CChar(UInt8(ascii: "M"))) ?? String(cString: PQresultErrorMessage(pointer))
        let state = field(CChar(UInt8(ascii: "C")))
        return PostgresError(
            // libpq invents a result without SQLSTATE for what it noticed itself; the connection is lost then.
            state.map(PostgresError.meaning(ofSQLState:)) ?? .connectionLost, sqlState: state,
            message.trimmingNewlines, detail: field(CChar(UInt8(ascii: "D"))),
            constraint: field(CChar(UInt8(ascii: "n")))
        )
    }

    /// Copies every cell.
    func rows() -> Rows {
        let columnCount = PQnfields(pointer)
        let rowCount = PQntuples(pointer)
        let columns = (0..<columnCount).map { column in
            Rows.Column(name: String(cString: PQfname(pointer, column)), type: PostgresType(PQftype(pointer, column)))
        }
        var bytes: [UInt8] = []
        var spans: [Range<Int>?] = []
        spans.reserveCapacity(Int(columnCount) * Int(rowCount))
        for row in 0..<rowCount {
            for column in 0..<columnCount {
                guard PQgetisnull(pointer, row, column) == 0 else {
                    spans.append(nil)
                    continue
                }
                let start = bytes.count
                let length = Int(PQgetlength(pointer, row, column))
                bytes.append(contentsOf: UnsafeRawBufferPointer(start: PQgetvalue(pointer, row, column), count: length))
                spans.append(start..<bytes.count)
            }
        }
        let affected = Int(String(cString: PQcmdTuples(pointer))) ?? Int(rowCount)
        return Rows(affected: affected, columns: columns, bytes: bytes, spans: spans)
    }

    /// The keys are the `PG_DIAG_…` letters, which are macros Swift does not see.
    private func field(_ key: CChar) -> String? {
        PQresultErrorField(pointer, Int32(key)).map { String(cString: $0) }
    }
}

extension String {
    /// On one line: libpq begins some lines with a tab.
    var trimmingNewlines: String {
        split { $0.isNewline || $0 == "\t" }.joined(separator: " ")
    }
}
