import Testing

@testable import Postgres

@Suite struct PostgresErrorTests {
    @Test(arguments: [
        ("40001", PostgresError.Meaning.repeatable), ("40P01", .repeatable), ("55P03", .repeatable),
        ("40003", .commitUnknown), ("08006", .connectionLost), ("08P01", .connectionLost), ("57P01", .connectionLost),
        ("57P02", .connectionLost), ("57P03", .connectionLost), ("57P05", .connectionLost), ("25P03", .connectionLost),
        ("25006", .connectionLost), ("57014", .unavailable), ("53300", .unavailable), ("53100", .unavailable),
        ("58030", .unavailable), ("XX000", .unavailable), ("55000", .unavailable), ("23505", .uniqueViolation),
        ("23514", .constraintViolation), ("22021", .rejectedValue), ("22P05", .rejectedValue), ("28P01", .notPermitted),
        ("42501", .notPermitted), ("3D000", .notPermitted), ("42601", .programming), ("42P01", .programming),
        ("25P02", .programming), ("0A000", .programming),
    ])
    func `SQLSTATE means what a caller can do about it`(state: String, meaning: PostgresError.Meaning) {
        #expect(PostgresError.meaning(ofSQLState: state) == meaning)
    }

    @Test func `PostgresError is retryable only for causes outside of the statement`() {
        let transient: [PostgresError.Meaning] = [.connectionLost, .commitUnknown, .repeatable, .unavailable]
        let lasting: [PostgresError.Meaning] = [
            .uniqueViolation, .constraintViolation, .rejectedValue, .notPermitted, .programming,
        ]
        #expect(transient.allSatisfy { PostgresError($0, "").isTransient })
        #expect(lasting.allSatisfy { !PostgresError($0, "").isTransient })
    }

    @Test func `Description says what, where and the SQLSTATE`() {
        let error = PostgresError(.uniqueViolation, sqlState: "23505", "duplicate", detail: "Key (a)=(1)")
            .during(Statement("find-it", "select 1"))
        #expect(error.description == "duplicate (Key (a)=(1)) [SQLSTATE 23505] in statement “find-it”")
    }

    @Test(arguments: ["23514", "23502", "22P02", "22001", "XX000"])
    func `PostgresError keeps nothing that the server says of a whole row`(sqlState: String) {
        let error = PostgresError(
            .constraintViolation, sqlState: sqlState, "violated", detail: "Failing row contains (secret).")
        #expect(error.detail == nil)
        #expect(!"\(error) \(String(reflecting: error))".contains("secret"))
    }
}
