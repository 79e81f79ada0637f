import Foundation
import Postgres
import Storage
import TestSupport
import Testing

@Suite struct LeaseStoreTests {
    @Test func `LeaseStore gives a lease to one holder, and to another after its end`() async throws {
        try await TestDatabase.connected { connection async throws in
            let (store, first, second) = (LeaseStore(connection), UUID(), UUID())
            #expect(try await store.acquire("a", for: first, seconds: 60))
            #expect(try await store.acquire("a", for: first, seconds: 60))
            #expect(try await !store.acquire("a", for: second, seconds: 60))
            try await connection.run(unsafeScript: "update lease set held_until = statement_timestamp()")
            #expect(try await store.acquire("a", for: second, seconds: 60))
            #expect(try await !store.acquire("a", for: first, seconds: 60))
        }
    }

    @Test func `LeaseStore gives a lease to another where the database's clock was set back`() async throws {
        try await TestDatabase.connected { connection async throws in
            let (store, first, second) = (LeaseStore(connection), UUID(), UUID())
            #expect(try await store.acquire("a", for: first, seconds: 60))
            try await connection.run(unsafeScript: "update lease set held_until = held_until + interval '1 year'")
            #expect(try await store.acquire("a", for: second, seconds: 60))
            #expect(try await !store.acquire("a", for: first, seconds: 60))
        }
    }
}
