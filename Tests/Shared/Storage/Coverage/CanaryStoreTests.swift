import Foundation
import Storage
import Testing

@Suite struct CanaryStoreTests {
    typealias Fixtures = CoverageFixtures

    @Test func `CanaryStore keeps a test notification pending until it has an outcome`() async throws {
        try await Fixtures.use { fixtures async throws in
            let store = CanaryStore(fixtures.connection)
            let (environment, bundleId) = (Fixtures.app.environment, Fixtures.app.bundleId)
            #expect(try await store.lastRequested(environment, bundleId, until: Fixtures.at(9)) == nil)
            var canary = Canary(
                environment: environment, bundleId: bundleId, token: "token", requestedAt: Fixtures.at(1))
            try await store.add(canary)
            #expect(try await store.waiting() == [canary])
            #expect(try await store.lastRequested(environment, bundleId, until: Fixtures.at(1)) == Fixtures.at(1))
            #expect(try await store.lastRequested(environment, bundleId, until: Fixtures.at(0)) == nil)

            canary.notificationUUID = UUID()
            canary.attemptedAt = Fixtures.at(2)
            canary.attemptResult = "TIMED_OUT"
            try await store.update(canary, at: Fixtures.at(3))
            #expect(try await store.waiting() == [canary])
            #expect(try await store.arrival(of: try #require(canary.notificationUUID)) == nil)

            canary.outcome = .unreached
            try await store.update(canary, at: Fixtures.at(4))
            #expect(try await store.waiting().isEmpty)
            #expect(try await store.newest(5) == [canary])
            #expect(try await store.delete(requestedBefore: Fixtures.at(2)) == 1)
        }
    }

    @Test func `CanaryStore finds the newest of an app also behind a hundred of another one`() async throws {
        try await Fixtures.use { fixtures async throws in
            let store = CanaryStore(fixtures.connection)
            let quiet = Canary(
                environment: .production, bundleId: "com.example.quiet", token: "quiet", requestedAt: Fixtures.at(0))
            try await store.add(quiet)
            for number in 1...101 {
                try await store.add(
                    Canary(
                        environment: .production, bundleId: "com.example.busy", token: "\(number)",
                        requestedAt: Fixtures.at(Double(number))))
            }
            #expect(try await store.newestOfEachApp(at: Fixtures.at(102)).map(\.token) == ["101", "quiet"])
        }
    }
}
