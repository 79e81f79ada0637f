import Contracts
import Foundation
import Postgres
import Refunds
import TestSupport
import Testing

@testable import Storage

@Suite struct RefundRequestPagesTests {
    @Test func `The requests that may still be answered are those with the next deadline, however many are newer`()
        async throws
    {
        try await RefundFixture.use { fixture async throws in
            for transaction in 2...6 {
                try await fixture.apply(
                    "CONSUMPTION_REQUEST", minute: Double(transaction * 10), transaction: "\(transaction)",
                    seed: UInt64(transaction))
            }
            let pages = RefundRequestPages(fixture.connection)
            func undecided(_ limit: Int, _ minute: Double) async throws -> [String] {
                try await pages.undecided(limit: limit, at: RefundFixture.at(minute)).map(\.key.transactionId)
            }
            #expect(try await undecided(3, 100) == ["1", "2", "3"])
            // Apple decided about one of them.
            try await fixture.apply("REFUND_DECLINED", minute: 25, transaction: "2", seed: 7)
            #expect(try await undecided(3, 100) == ["1", "3", "4"])
            // The time of the first is over.
            #expect(try await undecided(100, 10 + 720) == ["3", "4", "5", "6"])
            #expect(try await undecided(100, 60 + 720) == [])
            #expect(try await pages.page(in: nil, state: .open, limit: 100, at: RefundFixture.at(10 + 720)).count == 4)
        }
    }

    @Test func `A request is listed as undecided while its answer waits, and not once Apple has it`() async throws {
        try await RefundFixture.use { fixture async throws in
            let pages = RefundRequestPages(fixture.connection)
            func states() async throws -> [RefundState] {
                try await pages.undecided(limit: 10, at: RefundFixture.at(20)).map(\.state)
            }
            #expect(try await states() == [.open])
            _ = try await fixture.answerByHand(15)
            #expect(try await states() == [.waiting])
            try await fixture.connection.run(unsafeScript: "update refund_answer set sent_at = decided_at")
            #expect(try await states() == [])
        }
    }

    @Test func `A request that repeated long after its answer is answered once Apple decided, the next one is not`()
        async throws
    {
        try await RefundFixture.use { fixture async throws in
            let sending = try #require(await fixture.sending(11))
            try await fixture.store.settle(sending, .accepted, at: RefundFixture.at(11))
            let pages = RefundRequestPages(fixture.connection)
            func state(_ minute: Double) async throws -> RefundState? {
                try await pages.find(RefundFixture.key, at: RefundFixture.at(minute))?.state
            }
            try await fixture.apply("CONSUMPTION_REQUEST", minute: 810)
            #expect(try await state(815) == .answered)
            try await fixture.apply("REFUND_DECLINED", minute: 820)
            #expect(try await state(825) == .answered)
            // Apple decided about the next one at once.
            try await fixture.apply("CONSUMPTION_REQUEST", minute: 830)
            try await fixture.apply("REFUND", minute: 840)
            #expect(try await state(845) == .unanswered)
        }
    }

    @Test func `Lists of waiting and of withheld requests are parts of the list of all, page by page`() async throws {
        try await RefundFixture.use { fixture async throws in
            for transaction in 2...9 {
                try await fixture.apply(
                    "CONSUMPTION_REQUEST", minute: Double(transaction * 10), transaction: "\(transaction)",
                    seed: UInt64(transaction))
            }
            // The answers for the odd ones wait, except for one whose consent was withdrawn.
            try await fixture.connection.run(
                unsafeScript: """
                    insert into refund_answer (
                        requested_at, decided_at, environment, transaction_id, bundle_id, withheld_because, body, api_version,
                        decided_by)
                    select requested_at, requested_at + interval '1 second', environment, transaction_id, bundle_id,
                        case when transaction_id::integer % 2 = 0 then 'rule' end,
                        case when transaction_id::integer % 2 = 1 then '{}' end,
                        case when transaction_id::integer % 2 = 1 then 2 end, 'policy'
                    from refund_request;
                    update refund_answer
                    set failed_at = decided_at, failed_with = 'consentWithdrawn'
                    where transaction_id = '3'
                    """)
            let pages = RefundRequestPages(fixture.connection)
            func keys(_ state: RefundState) async throws -> [String] {
                var found: [RefundRequestPages.Entry] = []
                while true {
                    let page = try await pages.page(
                        in: .production, of: [RefundFixture.app], state: state,
                        after: found.last.map { (requestedAt: $0.requestedAt, transactionId: $0.key.transactionId) },
                        limit: 2,
                        at: RefundFixture.at(100))
                    #expect(page.allSatisfy { $0.state == state })
                    if page.isEmpty { return found.map(\.key.transactionId) }
                    found += page
                }
            }
            #expect(try await keys(.waiting) == ["9", "7", "5", "1"])
            #expect(try await keys(.withheld) == ["8", "6", "4", "3", "2"])
            #expect(
                try await pages.page(in: nil, state: .withheld, limit: 100, at: RefundFixture.at(100)).count == 5)
            #expect(try await pages.page(in: .sandbox, state: .waiting, limit: 9, at: RefundFixture.at(100)) == [])

            // Of several apps, one of which is named twice.
            try await fixture.connection.run(
                unsafeScript: "update refund_request set bundle_id = 'other' where transaction_id in ('4', '6', '7')")
            func keys(_ apps: [String], _ state: RefundState?, limit: Int) async throws -> [String] {
                try await pages.page(in: .production, of: apps, state: state, limit: limit, at: RefundFixture.at(100))
                    .map(\.key.transactionId)
            }
            let apps = ["other", RefundFixture.app, "other"]
            #expect(try await keys(apps, .withheld, limit: 3) == ["8", "6", "4"])
            #expect(try await keys(["other"], .withheld, limit: 3) == ["6", "4"])
            #expect(try await keys(apps, nil, limit: 4) == ["9", "8", "7", "6"])
            #expect(try await keys(["other"], nil, limit: 4) == ["7", "6", "4"])
            #expect(try await keys([], .withheld, limit: 4) == [])
        }
    }

    /// By an index even where that is not worth it, so that the plan says whether it can be.
    @Test(arguments: ["refund-request-list-apps", "refund-request-list-apps-withheld"])
    func `The list of an app reads requests of no other app`(name: String) async throws {
        let statement = try #require(RefundRequestPages.statements.first { $0.name == name })
        try await RefundFixture.use { fixture async throws in
            try await fixture.connection.run(
                unsafeScript: """
                    set plan_cache_mode = force_generic_plan;
                    set enable_seqscan = off;
                    prepare asked (text, text[], text, text, text, timestamptz, text, bigint, timestamptz, bigint)
                    as \(statement.sql)
                    """)
            let plan = try await fixture.connection.execute(
                unsafeSQL: """
                    explain execute asked ('Production', '{a}', 'withheld', null, null, null, null, 50, now(), null)
                    """
            ).map { row in try row.value(at: 0, as: String.self) }
            let scans = plan.indices.filter { plan[$0].contains("Scan") && plan[$0].contains("refund_request_") }
            #expect(!scans.isEmpty && scans.allSatisfy { plan[$0 + 1].contains("(bundle_id = ") }, "\(plan)")
        }
    }

    @Test func `A search for a state that no request has reads a bounded number, and goes on behind them`()
        async throws
    {
        try await RefundFixture.use { fixture async throws in
            for transaction in 2...6 {
                try await fixture.apply(
                    "CONSUMPTION_REQUEST", minute: Double(transaction * 10), transaction: "\(transaction)",
                    seed: UInt64(transaction))
            }
            try await fixture.connection.run(
                unsafeScript: "update refund_request set bundle_id = 'other' where transaction_id in ('3', '4')")
            let pages = RefundRequestPages(fixture.connection)
            for apps in [nil, [RefundFixture.app, "other"]] {
                for (state, all) in [(RefundState.failed, []), (.unanswered, ["6", "5", "4", "3", "2", "1"])] {
                    var found: [String] = []
                    var ends: [String] = []
                    var position: RefundRequestPages.Position?
                    repeat {
                        let (entries, next) = try await pages.search(
                            in: .production, of: apps, state: state, after: position, limit: 10, searching: 2,
                            at: RefundFixture.at(2000))
                        found += entries.map(\.key.transactionId)
                        position = next
                        if let next { ends.append(next.transactionId) }
                    } while position != nil
                    #expect(found == all)
                    #expect(ends == ["5", "3", "1"])
                }
            }
        }
    }

    @Test func `Lists of a purchase, of an app and of a state are parts of the list of all`() async throws {
        try await RefundFixture.use { fixture async throws in
            for transaction in 2...6 {
                try await fixture.apply(
                    "CONSUMPTION_REQUEST", minute: Double(transaction * 10), transaction: "\(transaction)",
                    purchase: transaction < 4 ? "1" : "4", seed: UInt64(transaction))
            }
            let pages = RefundRequestPages(fixture.connection)
            let now = RefundFixture.at(100)
            func keys(_ entries: [RefundRequestPages.Entry]) -> [String] { entries.map(\.key.transactionId) }
            #expect(keys(try await pages.page(in: nil, limit: 100, at: now)) == ["6", "5", "4", "3", "2", "1"])
            #expect(keys(try await pages.page(in: .production, purchase: "1", limit: 2, at: now)) == ["3", "2"])
            #expect(keys(try await pages.page(in: .sandbox, purchase: "1", limit: 2, at: now)) == [])
            for state in [RefundState?.none, .open] {
                let apps = try await pages.page(
                    in: .production, of: [RefundFixture.app], state: state, limit: 4, at: now)
                #expect(keys(apps) == ["6", "5", "4", "3"])
                let last = try #require(apps.last)
                let rest = try await pages.page(
                    in: .production, of: [RefundFixture.app], state: state,
                    after: (last.requestedAt, last.key.transactionId), limit: 4, at: now)
                #expect(keys(rest) == ["2", "1"])
            }
            #expect(keys(try await pages.page(in: .production, of: ["other"], state: .open, limit: 4, at: now)) == [])
        }
    }
}
