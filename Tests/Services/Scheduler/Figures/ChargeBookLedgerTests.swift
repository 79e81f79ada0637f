import AppStore
import Contracts
import Foundation
import Interpretation
import Postgres
import Records
import Storage
import Subscriptions
import TestSupport
import Testing

@testable import Scheduler
@testable import SimulatedAppStore

/// Monthly revenue by the simulator's own book of charges is that of the figures, to the thousandth.
@Suite(.hangLimit) struct ChargeBookLedgerTests {
    private static let now = Date(milliseconds: 1_790_000_000_000)
    /// The beginning of the day.
    private static let today = Date(timeIntervalSince1970: 20_717 * 86_400)
    /// The number of moments that are compared.
    private static let count = 1000

    /// The payments for one purchase, and their currency.
    private struct Book {
        var currency: String
        var book: ChargeBook
    }

    /// A row of `mrr_movement`.
    private struct Movement {
        var purchase: String
        var currency: String
        var at: Date
        var amount: Int64
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `Monthly revenue by the book is that of the figures at a thousand moments, in any order, with the job killed`(
        seed: UInt64
    ) async throws {
        let events = Self.events(2500, seed: seed)
        let books = Self.books(events)
        #expect(books.count > 50 && books.values.contains { !$0.book.refunds.isEmpty })
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            let ledger = LedgerStore(connection)
            try await connection.run(unsafeScript: Self.killing)
            var doomed = database
            doomed.applicationName = "doomed"
            let jobs = Jobs(
                healthy: FigureStore(connection, reading: TestDatabase.connection(database)),
                other: FigureStore(TestDatabase.connection(database)),
                doomed: FigureStore(TestDatabase.connection(doomed)))
            var generator = SeededGenerator(state: seed)
            let entries = events.compactMap { Self.entry($0) }.shuffled(using: &generator)
            var (next, kills) = (0, 0)
            while next < entries.count {
                let end = min(entries.count, next + Int.random(in: 1...200, using: &generator))
                _ = try await ledger.apply(Array(entries[next..<end]), moving: [], recordedAt: Self.now)
                next = end
                // Computed while half of it has arrived, too.
                guard Bool.random(using: &generator) else { continue }
                guard
                    try await jobs.turn(
                        Int.random(in: 0..<6, using: &generator), limit: Int.random(in: 1...20, using: &generator))
                else { continue }
                // What was rolled back is in no figure, and what waits counts as its figures say.
                kills += 1
                let found = try await FigureCheck(connection).differences(before: Self.today)
                #expect(found == [])
            }
            // Computed once more, which changes nothing. A turn ends at its first kill, or with some left.
            try await connection.run(
                unsafeScript: """
                    insert into insight_change (environment, original_transaction_id)
                    select environment, original_transaction_id from subscription
                    on conflict do nothing
                    """)
            while try await jobs.healthy.waiting() > 0 { if try await jobs.turn(5, limit: 5) { kills += 1 } }
            #expect(kills > 3)
            while try await jobs.healthy.update(at: Self.now) {}
            let movements = try await Self.movements(connection)
            #expect(movements.count > 100)
            var earning = 0
            for moment in Self.moments(books, using: &generator) {
                let expected = Self.sums(books.values.map { ($0.currency, $0.book.monthlyRevenue(at: moment)) })
                let found = Self.sums(movements.filter { $0.at <= moment }.map { ($0.currency, $0.amount) })
                if !expected.isEmpty { earning += 1 }
                guard found != expected else { continue }
                Issue.record("at \(moment.milliseconds): \(Self.differences(books, movements, at: moment))")
                break
            }
            #expect(earning > Self.count / 2)
            #expect(try await FigureCheck(connection).differences(before: Self.today) == [])
            await connection.close()
        }
    }

    /// The job, on connections of processes that end in different ways.
    private struct Jobs {
        let healthy: FigureStore
        /// Of another process.
        let other: FigureStore
        /// The server ends its session within some transactions.
        let doomed: FigureStore

        /// One turn of the job.
        /// - Parameters:
        ///   - kind: 0: whole; 1: cancelled before the next batch; 2: by two processes at once, of which one lost the lease; else: by one that
        ///     is killed now and then.
        ///   - limit: purchases of one batch.
        /// - Returns: whether it was killed.
        func turn(_ kind: Int, limit: Int) async throws -> Bool {
            switch kind {
            case 0: while try await healthy.update(limit: limit, batches: 3, at: ChargeBookLedgerTests.now) {}
            case 1:
                let job = Task { try await Self.job(healthy, limit).turn() }
                job.cancel()
                _ = await job.result
            case 2:
                async let former = Self.job(other, limit).turn()
                try await Self.job(healthy, limit).turn()
                _ = try await former
            default:
                do {
                    try await Self.job(doomed, limit).turn()
                } catch let error as PostgresError where [.connectionLost, .commitUnknown].contains(error.meaning) {
                    return true
                }
            }
            return false
        }

        private static func job(_ store: FigureStore, _ limit: Int) -> FigureJob {
            FigureJob(store: store, now: { ChargeBookLedgerTests.now }, limit: limit)
        }
    }

    /// Has the server end the session that computes figures at every 29th statement that writes one of them. A sequence counts on when a
    /// transaction is rolled back, so the places differ.
    private static let killing =
        """
        create sequence statements_of_the_doomed;
        create function end_the_doomed() returns trigger language plpgsql as $$
        begin
            if current_setting('application_name') = 'doomed' and nextval('statements_of_the_doomed') % 29 = 0 then
                perform pg_terminate_backend(pg_backend_pid());
            end if;
            return null;
        end
        $$;

        """
        + written.map { table in
            """
            create trigger end_the_doomed after insert or update or delete on \(table)
                for each statement execute function end_the_doomed();

            """
        }.joined()
    /// The tables that the job writes.
    private static let written = [
        "insight_change", "insight_purchase", "mrr_movement", "insight_day", "insight_month", "insight_position",
    ]

    private static func events(_ count: Int, seed: UInt64) -> [EventPayload] {
        var population = Population(
            apps: [SimulatedAppStore.App(bundleId: "com.example.app", appAppleId: 1, environment: .production)],
            size: 40,
            conditions: Conditions(hasUnknownProductType: false), seed: seed, now: now)
        return (0..<count).map { _ in population.next(now: now) }
    }

    /// The newest book of each purchase that paid for a subscription.
    private static func books(_ events: [EventPayload]) -> [String: Book] {
        var books: [String: Book] = [:]
        for event in events {
            guard let book = event.book, let id = event.purchase?.originalTransactionId else { continue }
            books[id] = Book(currency: event.customer?.storefront.currency ?? "", book: book)
        }
        return books.filter { !$0.value.book.charges.isEmpty }
    }

    /// The entry that the pipeline reads from the notification; nil for one that shows no transaction.
    private static func entry(_ event: EventPayload) -> LedgerEntry? {
        guard let purchase = event.shownPurchase else { return nil }
        let read = PurchaseEvent(
            key: SubscriptionKey(
                environment: event.app.environment, originalTransactionId: purchase.originalTransactionId),
            version: EventVersion(signedDate: event.signedDate, notificationUUID: event.uuid),
            bundleId: event.app.bundleId, notificationType: event.kind.type.rawValue,
            subtype: event.kind.subtype?.rawValue, status: event.status,
            transaction: TransactionFacts(
                PayloadBuilder.transaction(purchase, in: event), signedDate: event.signedDate),
            renewal: event.renewal.map {
                RenewalFacts(PayloadBuilder.renewal($0, of: purchase, in: event), signedDate: event.signedDate)
            })
        return LedgerEntry(
            notificationUUID: event.uuid, notificationType: read.notificationType, subtype: read.subtype,
            environment: event.app.environment, bundleId: event.app.bundleId, appAppleId: event.app.appAppleId,
            originalTransactionId: purchase.originalTransactionId, transactionId: purchase.transactionId,
            signedDate: event.signedDate, receivedAt: now, source: .webhook, decodedPayload: "{}", signedPayload: [1],
            event: read, position: LogPosition(topic: "t", partition: 0, offset: 0))
    }

    private static func movements(_ connection: PostgresConnection) async throws -> [Movement] {
        try await connection.execute(
            Statement(unsafeSQL: "select original_transaction_id, currency, at, amount from mrr_movement order by at")
        ).map { row in
            Movement(
                purchase: try row.value("original_transaction_id"), currency: try row.value("currency"),
                at: try row.value("at"), amount: try row.value("amount"))
        }
    }

    /// Beginnings and ends of periods, and moments between.
    private static func moments(_ books: [String: Book], using generator: inout SeededGenerator) -> [Date] {
        let bounds = books.values.flatMap(\.book.periods).flatMap { [$0.start, $0.end].compactMap(\.self) }
            .filter { $0 <= now }.sorted().shuffled(using: &generator).prefix(count / 2)
        return Array(bounds)
            + (0..<(count - bounds.count)).map { _ in
                now.adding(-Double.random(in: 0...300, using: &generator) * 86_400)
            }
    }

    private static func sums(_ amounts: [(String, Int64)]) -> [String: Int64] {
        Dictionary(amounts, uniquingKeysWith: +).filter { $0.value != 0 }
    }

    /// The purchases of which book and figures differ.
    private static func differences(_ books: [String: Book], _ movements: [Movement], at moment: Date) -> String {
        let moved = Dictionary(grouping: movements.filter { $0.at <= moment }, by: \.purchase)
        return books.sorted { $0.key < $1.key }.compactMap { id, book -> String? in
            let found = (moved[id] ?? []).reduce(0) { $0 + $1.amount }
            let expected = book.book.monthlyRevenue(at: moment)
            return found == expected
                ? nil : "\(id) earns \(found), by the book \(expected): \(book.book.charges) \(book.book.refunds)"
        }.joined(separator: "; ")
    }
}
