import Contracts
import Foundation
import Kafka
import Pipeline
import Postgres
import Storage
import TestSupport
import Testing

@testable import SimulatedAppStore

/// The command as it runs, dies and is run again.
@Suite(.hangLimit) struct ProcessTests {
    /// Asks the database until the window is so far, under a deadline; each question is a round trip.
    static func wait(
        for id: UUID, _ fixture: SchedulerFixture, until isSo: (RecoveryWindow) -> Bool
    ) async throws -> RecoveryWindow {
        let deadline = ContinuousClock.now.advanced(by: .hangLimit)
        while true {
            let window = try #require(try await fixture.window(id))
            if isSo(window) || ContinuousClock.now > deadline { return window }
        }
    }

    @Test func `Scheduler killed in the middle of a window is replaced, and no secret is in its log`() async throws {
        try await SchedulerFixture.open { fixture in
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            let environment = try fixture.environment(filesIn: directory)
            try fixture.send(200)
            let id = try await fixture.open()
            fixture.faults.add(ServerFault(kind: .slow, endpoint: .notificationHistory, delay: .milliseconds(500)))

            let first = try SpawnedScheduler(environment: environment, directory: directory.url)
            let before = try await Self.wait(for: id, fixture) { $0.pages >= 2 }
            #expect(await first.end(by: SIGKILL) == SIGKILL)
            #expect(before.state == .open)
            fixture.faults.clear()

            let second = try SpawnedScheduler(environment: environment, directory: directory.url)
            let after = try await Self.wait(for: id, fixture) { $0.state == .fetched }
            #expect(after.state == .fetched)
            #expect(after.attempts >= 2)
            #expect(after.pages == 10)
            #expect(try await fixture.pages().uuids == fixture.sentUUIDs)
            #expect(await second.end(by: SIGTERM) == 0)

            let said = first.output + second.output
            #expect(said.contains("Opened a window of Apple's history") || said.contains("Comparison of app"))
            for secret in try fixture.secrets + ["PRIVATE KEY", "eyJ"] {
                #expect(!said.contains(secret), "\(secret.prefix(12))")
            }
        }
    }

    @Test func `Scheduler does not start where an app that it is to follow is not configured, and says what to do`()
        async throws
    {
        try await SchedulerFixture.open { fixture in
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            var environment = try fixture.environment(filesIn: directory)
            environment["STOREKEEPER_FOLLOWED_APPS"] = "\(SchedulerFixture.app.bundleId),com.exmaple.app"
            let scheduler = try SpawnedScheduler(environment: environment, directory: directory.url)
            #expect(await scheduler.ending() != 0)
            #expect(
                scheduler.output.contains("STOREKEEPER_FOLLOWED_APPS names com.exmaple.app, which is not in"),
                "\(scheduler.output)")
            #expect(scheduler.output.contains("apps there: \(SchedulerFixture.app.bundleId)"))
        }
    }

    @Test func `Scheduler reloads API keys while it runs`() async throws {
        try await SchedulerFixture.open { fixture in
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            try fixture.send(5)
            let scheduler = try SpawnedScheduler(
                environment: try fixture.environment(filesIn: directory), directory: directory.url)
            let before = try await fixture.open()
            #expect(try await Self.wait(for: before, fixture) { $0.state == .fetched }.state == .fetched)

            try fixture.exchangeKeys(in: directory)
            let deadline = ContinuousClock.now.advanced(by: .hangLimit)
            while !scheduler.output.contains("Reloaded App Store Server API keys"), ContinuousClock.now < deadline {
                await Task.yield()
            }
            #expect(fixture.ring.revoke("FIRST"))
            #expect(fixture.ring.revoke("SECOND"))
            let after = try await fixture.open()
            #expect(try await Self.wait(for: after, fixture) { $0.state == .fetched }.state == .fetched)
            #expect(await scheduler.end(by: SIGTERM) == 0)
        }
    }

    @Test func `Scheduler covers an app that is added to its files while it runs`() async throws {
        try await SchedulerFixture.open { fixture in
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            var environment = try fixture.environment(filesIn: directory)
            environment["STOREKEEPER_FAILURES_INTERVAL"] = "1s"
            let scheduler = try SpawnedScheduler(environment: environment, directory: directory.url)
            func isCovered(_ app: String) async throws -> Bool {
                let deadline = ContinuousClock.now.advanced(by: .hangLimit)
                while ContinuousClock.now < deadline {
                    let rows = try await CoverageStore(fixture.connection).coverage()
                    if rows.contains(where: { $0.bundleId == app }) { return true }
                }
                return false
            }
            #expect(try await isCovered(SchedulerFixture.app.bundleId))
            try fixture.add(app: "com.example.added", in: directory)
            #expect(try await isCovered("com.example.added"))
            #expect(await scheduler.end(by: SIGTERM) == 0)
        }
    }

    @Test func `Each of two schedulers exports coverage from the database, not only the lease holder`() async throws {
        try await SchedulerFixture.open { fixture in
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            var environment = try fixture.environment(filesIn: directory)
            environment["STOREKEEPER_FAILURES_INTERVAL"] = "1s"
            let schedulers = try (0..<2).map { _ in
                try SpawnedScheduler(environment: environment, directory: directory.url)
            }
            // A day that Apple does not list any more.
            let app = SchedulerFixture.app
            let series =
                #"storekeeper_coverage_incomplete{bundle="\#(app.bundleId)",environment="Production",state="given-up"}"#
            for scheduler in schedulers { #expect(await scheduler.shows("\(series) 0")) }
            try await CoverageStore(fixture.connection).giveUp(
                app.environment, app.bundleId, days: [SchedulerFixture.now], window: UUID(), because: "test",
                at: SchedulerFixture.now)
            for scheduler in schedulers { #expect(await scheduler.shows("\(series) 1")) }
            for scheduler in schedulers { #expect(await scheduler.end(by: SIGTERM) == 0) }
        }
    }

    @Test func `Scheduler reads the heartbeats and fetches the time in which there were none`() async throws {
        try await SchedulerFixture.open { fixture in
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            try await fixture.record(hoursAgo: 3)
            let now = SchedulerFixture.now.timeIntervalSince1970
            let newest = Date(timeIntervalSince1970: (now / 60).rounded(.down) * 60)
            let minutes = Array(-90 ... -60) + Array(-30...0)
            try await fixture.producer.send(
                minutes.map { minute in
                    ProducerRecord(
                        Topics.heartbeats,
                        IngestHeartbeat(
                            instance: "a", minute: newest.addingTimeInterval(Double(minute) * 60), accepted: 1,
                            rejected: [:]))
                })
            let scheduler = try SpawnedScheduler(
                environment: try fixture.environment(filesIn: directory), directory: directory.url)
            var filter = RecoveryWindowStore.Filter()
            filter.reasons = [.outage]
            var found: [RecoveryWindow] = []
            let deadline = ContinuousClock.now.advanced(by: .hangLimit)
            while found.isEmpty, ContinuousClock.now < deadline {
                found = try await RecoveryWindowStore(fixture.connection).windows(filter)
            }
            #expect(found.map(\.scope.from) == [newest.addingTimeInterval(-59 * 60 - 300)])
            #expect(found.map(\.scope.to) == [newest.addingTimeInterval(-30 * 60 + 300)])
            #expect(await scheduler.end(by: SIGTERM) == 0)
        }
    }
}
