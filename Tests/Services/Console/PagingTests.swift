import Contracts
import Foundation
import Records
import Storage
import Testing

@testable import Console
@testable import Operations

@Suite(.hangLimit) struct PagingTests {
    @Test func `An address with a place that no list has shows the first page`() async throws {
        try await RunningConsole.with { console in
            let cookie = try await console.signedIn(role: "viewer")
            let least = Int64.min
            for address in [
                "/refunds?before=\(least)&after=1", "/refunds?before=\(Int64.max)&after=1", "/audit?after=\(least)0",
                "/dead-letters/list?after=\(least)/\(Int32.min)/\(least)", "/notifications?after=1",
            ] {
                #expect(try await console.get(address, cookie: cookie).status == 200, "\(address)")
            }
        }
    }

    @Test(arguments: [1, 2, 3, 100])
    func `Pages of the ledger list every notification once, whatever is looked at in one step`(look: Int) async throws {
        try await SampleContents.with { console in
            try await console.withOwner { connection in
                let pages = ConsolePages(connection, look: look)
                let all = try await ConsolePages(connection).notifications(.init(), after: nil, limit: 100).lines
                #expect(all.count == 5)
                var filters = [ConsolePages.Filter(), ConsolePages.Filter(), ConsolePages.Filter()]
                filters[1].notificationType = "SUBSCRIBED"
                (filters[2].environment, filters[2].bundleId) = (.production, SampleContents.app)
                for filter in filters {
                    var found: [UUID] = []
                    var after: UUID?
                    var steps = 0
                    repeat {
                        let page = try await pages.notifications(filter, after: after, limit: 2)
                        #expect(page.lines.count <= 2)
                        found += page.lines.map(\.notificationUUID)
                        after = page.last
                        steps += 1
                    } while after != nil && steps < 20
                    let expected = all.filter { line in
                        (filter.notificationType.map { $0 == line.notificationType } ?? true)
                            && (filter.bundleId.map { $0 == line.bundleId } ?? true)
                    }
                    #expect(found == expected.map(\.notificationUUID))
                }
            }
        }
    }

    @Test func `Console says how far it looked where a page ends early because few rows match`() async throws {
        try await SampleContents.with { console in
            try await console.withOwner { connection in
                var filter = ConsolePages.Filter()
                filter.notificationType = "TEST"
                let page = try await ConsolePages(connection, look: 2).notifications(filter, after: nil, limit: 50)
                #expect(page.lines.isEmpty)
                #expect(page.looked == 2)
                #expect(page.lastRecordedAt != nil)
                let whole = try await ConsolePages(connection, look: 100).notifications(filter, after: nil, limit: 50)
                #expect(whole.last == nil)
                #expect(whole.looked == nil)
            }
        }
    }

    @Test(arguments: [1, 2, 4, 100])
    func `Pages of the dead letters list every one once, whatever is looked at in one step`(look: Int) async throws {
        try await SampleContents.with { console in
            try await console.withOwner { connection in
                // Many of one moment, which is no whole millisecond.
                let moment = Date(timeIntervalSince1970: 1_764_900_000.123_457)
                _ = try await RejectedStore(connection).record(
                    (0..<5).map { index in
                        RejectedRow(
                            cluster: "c1",
                            position: LogPosition(
                                topic: Topics.rejected.name, partition: Int32(index % 2), offset: 50 + index),
                            stage: "verifier", reason: "at-once", message: "", rejectedAt: moment)
                    })
                for (reason, count) in [(nil, 14), ("at-once", 5), ("app-unknown", 3), ("no-such", 0)] {
                    var found: [String] = []
                    var place: DeadLetterGroups.Place?
                    var steps = 0
                    repeat {
                        let page = try await DeadLetterGroups(connection, look: look).deadLetters(
                            DeadLetterGroups.Criteria(reason: reason), after: place, limit: 2)
                        #expect(page.deadLetters.count <= 2)
                        found += page.deadLetters.map(\.id)
                        place = try page.last.map { try #require(DeadLetterGroups.Place($0.text)) }
                        #expect(place == page.last, "an address holds the whole place")
                        steps += 1
                    } while place != nil && steps < 40
                    #expect(found.count == count && Set(found).count == count, "\(reason ?? "all"): \(found)")
                }
            }
        }
    }

    @Test func `Console shows as last error of a stage the newest rejection, or why its fetches fail`() async throws {
        try await SampleContents.with { console in
            let now = RunningConsole.now
            let newest = try await console.withOwner { connection in
                try await DeadLetterGroups(connection).newestByStage(since: now.addingTimeInterval(-86_400))
            }
            #expect(newest.count == 2)
            let recovery = RecoveryStatus(
                unsettled: [.init(id: "w", reason: "sweep", state: "open", openedAt: now, lastError: "too old")],
                postponed: [
                    .init(bundleId: "app", environment: "Production", requests: 3, since: now, lastError: "the key")
                ])
            let faults = PipelineScreen.faults(newest, recovery, now)
            #expect(faults["verifier"]?.text.hasPrefix("rejected a record, ") == true)
            #expect(faults["verifier"]?.at?.distance == "60 s ago")
            #expect(faults["scheduler"]?.text.contains("too old") == true)
            #expect(faults["recovery (\(Topics.recoveryRequests.name))"]?.text.contains("the key") == true)
            #expect(faults["deduplicator"] == nil)
        }
    }

    @Test func `Console shows what each ingest accepted, and the one that is silent`() {
        let now = RunningConsole.now
        let receivers = ["a", "b"].map {
            PipelineStatus.Receiver(instance: $0, lastMinute: now.addingTimeInterval(-90), accepted: 3600, rejected: 1)
        }
        let stage = PipelineScreen.ingest(receivers, "receiver a has sent no heartbeat", now)
        #expect(stage.rate == "2.0" && stage.queue == nil)
        #expect(stage.note == "in the last hour; 2 requests rejected; last heartbeat 90 s ago")
        #expect(stage.trouble?.hasPrefix("receiver a") == true)
        #expect(PipelineScreen.ingest([], nil, now).note?.hasSuffix("no heartbeat") == true)
    }

    @Test func `ChartTable has a row for every look, the latest first, with the lag of every stage`() throws {
        let now = RunningConsole.now
        var view = StatusWatch.View(report: nil, lags: [:])
        func look(_ seconds: Double, _ lags: [(String, Double)]) {
            view.add(
                PipelineStatus(
                    at: now.addingTimeInterval(seconds),
                    stages: .read(lags.map { .init(name: $0.0, topic: "t", waiting: 0, behindSeconds: $0.1) }),
                    ledger: .unreadable(""), rejected: .unreadable(""), receivers: .unreadable(""),
                    recovery: .unreadable("")))
        }
        look(-20, [("verifier", 7)])
        // The verifier's brokers do not answer.
        look(-10, [("new", 4)])
        look(0, [("verifier", 2), ("new", 5)])
        let table = try #require(ChartTable(lags: view, now: now))
        #expect(table.heads == ["Looked", "verifier", "new"])
        #expect(table.lines.map(\.values) == [["2", "5"], ["", "4"], ["7", ""]])
        for seconds in 1...60 { look(Double(seconds), [("verifier", Double(seconds)), ("new", 0)]) }
        let full = try #require(ChartTable(lags: view, now: now))
        #expect(full.lines.count == 60 && full.lines.last?.values == ["1", "0"])
        #expect(ChartTable(lags: StatusWatch.View(report: nil, lags: [:]), now: now) == nil)
        let minutes = ChartTable("Notifications", minutes: [4, 9], until: now)
        #expect(minutes.lines.map(\.values) == [["9"], ["4"]])
        #expect(minutes.lines.map(\.name) == ["2025-12-06 05:46 UTC", "2025-12-06 05:45 UTC"])
    }

    @Test func `Console says that at least so much waits where partitions could not be read`() {
        var stage = PipelineStatus.Stage(name: "verifier", topic: "t", waiting: 1200, behindSeconds: 30)
        let whole = PipelineScreen.Queue(stage)
        #expect(whole.waiting == "1,200" && whole.lag == "30 s")
        stage.unreadPartitions = [3]
        let known = PipelineScreen.Queue(stage)
        #expect(known.waiting == "at least 1,200" && known.lag == "at least 30 s")
    }

    @Test func `StatusWatch computes the rate of a stage from what it committed between two looks`() {
        func report(_ seconds: Double, _ settled: Int64?) -> PipelineStatus {
            PipelineStatus(
                at: RunningConsole.now.addingTimeInterval(seconds),
                stages: .read([
                    PipelineStatus.Stage(name: "verifier", topic: "t", waiting: 0, settled: settled)
                ]),
                ledger: .unreadable(""), rejected: .unreadable(""), receivers: .unreadable(""),
                recovery: .unreadable(""))
        }
        #expect(StatusWatch.rates(from: report(0, 100), to: report(10, 350)) == ["verifier": 25])
        #expect(StatusWatch.rates(from: report(0, 100), to: report(10, 100)) == ["verifier": 0])
        #expect(StatusWatch.rates(from: report(0, nil), to: report(10, 350)) == [:])
        #expect(StatusWatch.rates(from: report(0, 350), to: report(10, 100)) == [:], "positions were reset")
        #expect(StatusWatch.rates(from: report(10, 100), to: report(10, 350)) == [:])
    }
}
