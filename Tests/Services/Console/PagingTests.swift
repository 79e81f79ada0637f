import Foundation
import Storage
import Testing

@testable import Console
@testable import Operations

@Suite(.timeLimit(.minutes(2))) struct PagingTests {
    @Test(arguments: [1, 2, 3, 100])
    func `Pages of the ledger list every notification once, whatever is looked at in one step`(look: Int) async throws {
        try await RunningConsole.with { console in
            try await SampleContents.fill(console)
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

    @Test func `A page that ends early because few match says how far was looked`() async throws {
        try await RunningConsole.with { console in
            try await SampleContents.fill(console)
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

    @Test func `The rate of a stage is what it settled between two looks`() {
        func report(_ seconds: Double, _ settled: Int64?) -> StatusReport {
            StatusReport(
                at: RunningConsole.now.addingTimeInterval(seconds),
                stages: .read([
                    StatusReport.Stage(name: "verifier", topic: "t", waiting: 0, settled: settled)
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
