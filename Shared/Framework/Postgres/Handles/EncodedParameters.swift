import CPQ

/// The values of one command in libpq's form: all bytes in one buffer, pointers into it made at the last moment.
struct EncodedParameters {
    private var types: [Oid] = []
    private var bytes: [UInt8] = []
    private var spans: [Range<Int>?] = []

    /// In bytes.
    var count: Int { bytes.count }

    init(_ parameters: [any PostgresParameter]) throws(PostgresError) {
        for parameter in parameters {
            let start = bytes.count
            types.append(type(of: parameter).postgresType.oid)
            spans.append(try parameter.write(into: &bytes) ? start..<bytes.count : nil)
        }
        // libpq counts in 32 bits; the server refuses a message of 1 GiB.
        guard bytes.count < 1 << 30 else {
            throw PostgresError(.rejectedValue, "the values of one statement exceed 1 GiB; use smaller batches")
        }
    }

    func sendPrepare(on connection: OpaquePointer, name: String, sql: String) -> Bool {
        PQsendPrepare(connection, name, sql, Int32(types.count), types) == 1
    }

    /// Binary both ways.
    func send(_ statement: Statement, on connection: OpaquePointer) -> Bool {
        let count = Int32(spans.count)
        let lengths = spans.map { Int32($0?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: spans.count)
        return bytes.withUnsafeBytes { buffer in
            // An empty value still needs a pointer: a null pointer means NULL.
            let base = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            return withUnsafePointer(to: CChar(0)) { empty in
                let values = spans.map { span in span.map { (base ?? empty) + $0.lowerBound } }
                if let name = statement.name {
                    return PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1) == 1
                }
                return PQsendQueryParams(connection, statement.sql, count, types, values, lengths, formats, 1) == 1
            }
        }
    }
}
