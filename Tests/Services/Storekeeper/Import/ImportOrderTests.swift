import Contracts
import Foundation
import Postgres
import Storage
import TestSupport
import Testing

@testable import Storekeeper

/// Rows of a file, Apple's answers about them, its notifications and its history, in any order.
@Suite(.serialized) struct ImportOrderTests {
    private enum Step {
        /// All rows, one after the other.
        case rows
        case arrival(LedgerEntry)
    }

    /// Customers of a file, and the steps by which they and their purchases become known.
    private struct Lot {
        var rows: [ImportList.Row]
        var steps: [Step]
        /// What each purchase is called in every lot, by its id.
        var names: [String: String]
    }

    /// A customer whom Apple names, one who has purchases for which Apple names no account, one of them refunded, and two of whom the
    /// file says that they have these purchases, too.
    private static func lot(_ number: Int, of ledger: inout ComparedLedger) -> Lot {
        let begin = ledger.entries.count
        let account = UUID()
        let owned = ledger.renew(ledger.buy(account, from: -40, to: -10), from: -10, to: 20)
        let free = ledger.buy(account, "plus") { $0.facts.appAccountToken = nil }
        var refunded = ledger.buy(account, "basic") { $0.facts.appAccountToken = nil }
        refunded.facts.revocationDate = ComparedLedger.at(-2)
        refunded.facts.revocationReason = 0
        ledger.tell("REFUND", nil, refunded, status: 5, at: -2)
        let told = Array(ledger.entries[begin...])
        for purchase in [owned, free, refunded] {
            ledger.tell(SignedPart.transaction.rawValue, nil, purchase, status: nil, at: 0)
        }
        let answers = ledger.entries[(begin + told.count)...].map { entry in
            var answer = entry
            answer.event?.renewal = nil
            return answer
        }
        // What Apple's history lists is known already, or is not.
        let fetched = (told + answers).map { entry in
            var fetched = entry
            fetched.notification.source = .history
            return fetched
        }
        func row(_ line: Int, _ customer: String, _ purchases: [String], token: UUID? = nil) -> ImportList.Row {
            ImportList.Row(
                line: line, customerId: "\(customer)-\(number)", appAccountToken: token,
                originalTransactionIds: purchases)
        }
        return Lot(
            rows: [
                row(1, "named", [owned.id], token: account), row(2, "first", [free.id, refunded.id]),
                row(3, "second", [free.id]), row(4, "other", [owned.id]),
            ],
            // A newer file has the same customers.
            steps: (told + fetched).map(Step.arrival) + [.rows, .rows],
            names: [owned.id: "owned", free.id: "free", refunded.id: "refunded"])
    }

    @Test func `A hundred orders of import, following and notifications lead to one state`() async throws {
        try await TestDatabase.connected { connection async throws in
            let run = ImportRunTests.run(connection)
            var generator = SeededGenerator(state: 35)
            var ledger = ComparedLedger()
            let lots = (0..<100).map { Self.lot($0, of: &ledger) }
            for lot in lots {
                for step in lot.steps.shuffled(using: &generator) {
                    switch step {
                    case .rows: for row in lot.rows { _ = try await run.outcome(of: row, isDryRun: false) }
                    case .arrival(let entry):
                        _ = try await LedgerStore(connection).apply([entry], moving: [], recordedAt: ComparedLedger.now)
                    }
                }
            }
            let lines = try await Self.lines(connection)
            let states = lots.map { lot in
                lot.names.flatMap { id, name in (lines[id] ?? []).map { "\(name): \($0)" } }.sorted()
            }
            #expect(Set(states).count == 1, "\(Set(states))")
            let accounts = states[0].filter { $0.contains(" account ") }
            #expect(
                accounts == [
                    "free: account first true claim", "free: account second false otherClaim",
                    "owned: account named true owner", "owned: account other false otherOwner",
                    "refunded: account first true claim",
                ])
            let periods = states[0].filter { $0.contains(" access ") }
            #expect(Set(periods.compactMap { $0.split(separator: ":").first }).isSuperset(of: ["free", "owned"]))
        }
    }

    /// What is stored of each purchase, without what differs between lots.
    private static func lines(_ connection: PostgresConnection) async throws -> [String: [String]] {
        let rows = try await connection.execute(
            unsafeSQL: """
                select original_transaction_id, concat_ws(
                    ' ', 'account', split_part(customer_id, '-', 1), may_use::text, because) as line
                from purchase_account join customer using (environment, bundle_id, app_account_token)
                union all
                select original_transaction_id, concat_ws(' ', 'access', product_id, period, reason)
                from access_period
                union all
                select original_transaction_id, concat_ws(' ', 'status', status) from subscription
                """)
        return try rows.reduce(into: [:]) { lines, row in
            lines[try row.value("original_transaction_id"), default: []].append(try row.value("line", as: String.self))
        }
    }
}
