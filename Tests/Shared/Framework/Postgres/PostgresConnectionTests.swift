import Foundation
import Postgres
import TestSupport
import Testing

@Suite struct PostgresConnectionTests {
    static let echo = Statement(
        "test-echo",
        """
        select $1::boolean as bool, $2::smallint as int16, $3::integer as int32, $4::bigint as int64,
            $5::double precision as double, $6::text as text, $7::bytea as bytes, $8::uuid as uuid,
            $9::timestamptz as date, $10::json as json
        """)

    @Test(arguments: [(true, "force_generic_plan", "off"), (false, "auto", "on")])
    func `PostgresConnection plans statements once, by indexes, where it is told to`(
        plansOnce: Bool, mode: String, reads: String
    ) async throws {
        try await TestDatabase.use(isMigrated: false) { database async throws in
            var configuration = database
            configuration.plansOnce = plansOnce
            let connection = TestDatabase.connection(configuration)
            let shown = try await connection.execute(unsafeSQL: "show plan_cache_mode")[0]
            #expect(try shown.value("plan_cache_mode") == mode)
            let scans = try await connection.execute(unsafeSQL: "show enable_seqscan")[0]
            #expect(try scans.value("enable_seqscan") == reads)
            await connection.close()
        }
    }

    @Test func `PostgresConnection waits for the notification of another session, also after it was lost`() async throws
    {
        try await TestDatabase.use(isMigrated: false) { database async throws in
            let (listening, other) = (TestDatabase.connection(database), TestDatabase.connection(database))
            func isNotified(within limit: Duration = .zero) async throws -> Bool {
                try await listening.awaitNotification(on: "news", within: limit)
            }
            #expect(try await isNotified(), "one may have been missed before")
            #expect(try await !isNotified())
            try await other.run(unsafeScript: "notify other")
            #expect(try await !isNotified())
            async let waited = isNotified(within: .seconds(60))
            try await other.run(unsafeScript: "notify news")
            #expect(try await waited)
            #expect(try await !isNotified())
            let process = try await listening.backendProcess()
            try await other.run(unsafeScript: "select pg_terminate_backend(\(process), 60000)")
            await #expect(throws: PostgresError.self) { try await isNotified(within: .seconds(60)) }
            #expect(try await isNotified(), "one may have been missed meanwhile")
            #expect(try await !isNotified())
            await listening.close()
            await other.close()
        }
    }

    @Test func `Every type of value comes back as it went`() async throws {
        try await TestDatabase.connected(isMigrated: false) { connection async throws in
            let uuid = UUID()
            let date = Date(timeIntervalSince1970: 1_700_000_000.123)
            let row = try await connection.execute(
                Self.echo, true, Int16.min, Int32.max, Int64.min, 0.1, "“ä” 👍\n\\'", [0, 255, 7] as [UInt8], uuid, date,
                JSONText("{\"a\" : [1, null]}"))[0]
            #expect(try row.value("bool") == true)
            #expect(try row.value("int16") == Int16.min)
            #expect(try row.value("int32") == Int32.max)
            #expect(try row.value("int64") == Int64.min)
            #expect(try row.value("double") == 0.1)
            #expect(try row.value("text") == "“ä” 👍\n\\'")
            #expect(try row.value("bytes") == [0, 255, 7] as [UInt8])
            #expect(try row.value("uuid") == uuid)
            #expect(try row.value("date") == date)
            #expect(try row.value("json") == JSONText("{\"a\" : [1, null]}"))
        }
    }

    @Test func `Every type of value can be missing`() async throws {
        try await TestDatabase.connected(isMigrated: false) { connection async throws in
            let row = try await connection.execute(
                Self.echo, Bool?.none, Int16?.none, Int32?.none, Int64?.none, Double?.none, String?.none,
                [UInt8]?.none, UUID?.none, Date?.none, JSONText?.none)[0]
            #expect(try row.optional("bool", as: Bool.self) == nil)
            #expect(try row.optional("text", as: String.self) == nil)
            #expect(try row.optional("bytes", as: [UInt8].self) == nil)
            #expect(try row.optional("date", as: Date.self) == nil)
            #expect(throws: PostgresError.self) { try row.value("uuid", as: UUID.self) }
        }
    }

    @Test func `Arrays come back with their NULLs, and empty ones empty`() async throws {
        let echo = Statement(
            "test-echo-arrays",
            """
            select $1::boolean[] as bools, $2::smallint[] as int16s, $3::integer[] as int32s, $4::bigint[] as int64s,
                $5::double precision[] as doubles, $6::text[] as texts, $7::bytea[] as bytes, $8::uuid[] as uuids,
                $9::timestamptz[] as dates, $10::json[] as jsons, $11::text[] as nothing
            """)
        try await TestDatabase.connected(isMigrated: false) { connection async throws in
            let uuid = UUID()
            let row = try await connection.execute(
                echo, [true, nil] as [Bool?], [1, -1] as [Int16], [nil, 2] as [Int32?], [3] as [Int64],
                [1.5, nil] as [Double?], ["", nil, "NULL", "{,}"] as [String?], [[], [1]] as [[UInt8]],
                [uuid, nil] as [UUID?], [Date(timeIntervalSince1970: 0), nil] as [Date?], [JSONText("1")],
                [] as [String])[0]
            #expect(try row.value("bools", as: [Bool?].self) == [true, nil])
            #expect(try row.value("int16s", as: [Int16].self) == [1, -1])
            #expect(try row.value("int32s", as: [Int32?].self) == [nil, 2])
            #expect(try row.value("int64s", as: [Int64].self) == [3])
            #expect(try row.value("doubles", as: [Double?].self) == [1.5, nil])
            #expect(try row.value("texts", as: [String?].self) == ["", nil, "NULL", "{,}"])
            #expect(try row.value("bytes", as: [[UInt8]].self) == [[], [1]])
            #expect(try row.value("uuids", as: [UUID?].self) == [uuid, nil])
            #expect(try row.value("dates", as: [Date?].self) == [Date(timeIntervalSince1970: 0), nil])
            #expect(try row.value("jsons", as: [JSONText].self) == [JSONText("1")])
            #expect(try row.value("nothing", as: [String].self) == [])
        }
    }
}
