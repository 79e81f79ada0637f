import Contracts
import Development
import Foundation
import Operations
import Postgres
import Storage
import TestSupport
import Testing

@testable import Storekeeper

/// Another system's file beside the access that the real ledger gives.
@Suite(.serialized) struct CompareTests {
    static let app = CoverageStore.App(.production, ComparedLedger.app)

    /// A migrated database with the ledger, and its file.
    static func use(
        _ ledger: ComparedLedger = .withAllCauses(), seed: UInt64 = 1,
        _ body: (PostgresConfiguration, PostgresConnection, TemporaryDirectory) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            try await ledger.apply(to: connection, seed: seed)
            try await ledger.grant("vip", to: "granted", connection)
            try write(ledger.records, to: directory.url("export.csv"))
            try await body(database, connection, directory)
        }
    }

    static func write(_ lines: [String], to url: URL, at moment: Date = ComparedLedger.moment) throws {
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: url)
        try FileManager.default.setAttributes([.modificationDate: moment], ofItemAtPath: url.path)
    }

    static func run(
        _ database: PostgresConfiguration, _ arguments: String..., now: Date = ComparedLedger.now
    ) async -> CommandOutcome {
        await CommandOutcome.of(
            ["compare"] + arguments + ["--app", ComparedLedger.app], environment: database.environment, now: now)
    }

    /// Compares with an Apple that has no purchase beside those of the ledger.
    private static func compare(
        _ path: String, _ connection: PostgresConnection, into id: UUID = UUID()
    ) async throws -> Comparison.Counts {
        let file = try CompareFile(path, columns: nil)
        let contents = try CompareContents(
            file, columns: nil,
            reader: ImportReader(bundleId: app.bundleId, environment: app.environment, now: file.takenAt)
        ) { _ in }
        let comparison = Comparison(
            id: id, environment: app.environment, bundleId: app.bundleId, source: file.shape.source.rawValue,
            takenAt: file.takenAt, startedAt: ComparedLedger.now)
        let store = ComparisonStore(connection)
        try await store.begin(
            comparison,
            audit: OperatorAction(
                actedAt: ComparedLedger.now, actor: "ann", operation: "compare", subject: "a file", reason: nil))
        let purchases = contents.purchases
        let operation = CompareAccess(
            comparison, definitions: try await EntitlementDefinitionStore(connection).current(),
            isNamed: { purchases.contains(CompareContents.key($0)) }, asksApple: { _ in false })
        var bucket = 0
        let total = try await operation.compareAll(on: [connection]) {
            defer { bucket += 1 }
            return try contents.buckets.customers(of: bucket)
        } progress: { _, _ in
        }
        var finished = comparison
        finished.counts = contents.counts
        finished.counts.add(total.counts)
        try await store.finish(finished, at: ComparedLedger.now)
        return finished.counts
    }

    /// The notifications of a hundred lots of customers arrive in one order, which is another one for each lot.
    @Test func `Every cause is found, in a hundred orders in which the notifications arrive`() async throws {
        let orders = 100
        let ledger = ComparedLedger.withAllCauses(times: orders)
        let entries = Dictionary(uniqueKeysWithValues: ledger.entries.map { ($0.notificationUUID, $0) })
        try await Self.use(ledger) { _, connection, directory in
            let id = UUID()
            let counts = try await Self.compare(directory.path("export.csv"), connection, into: id)
            let found = try await ComparisonStore(connection).differences(of: id, cause: nil, limit: 10_000)
            #expect(
                found.map { "\($0.customerId) \($0.entitlement) \($0.cause.rawValue)" }.sorted() == ledger.expected)
            #expect(counts.equal == 2 * orders && counts.entitlements == counts.equal + found.count)
            #expect(counts.causes.values.reduce(0, +) == found.count)
            #expect(Set(counts.causes.keys) == Set(ComparisonCause.allCases.map(\.rawValue)), "each cause occurs")
            #expect(counts.notInFile == 3 * orders && counts.invalid == 0)
            // Each names its purchase, and the notification that decided, where one did.
            let without: Set<ComparisonCause> = [.grantByHand, .otherStore, .sandbox]
            for difference in found {
                #expect((difference.purchase == nil) == without.contains(difference.cause), "\(difference)")
                let isDecided = difference.notificationUUID != nil
                #expect(isDecided != (without.union([.unknownToApple]).contains(difference.cause)), "\(difference)")
                if let uuid = difference.notificationUUID {
                    let decisive = try #require(entries[uuid])
                    #expect(decisive.originalTransactionId == difference.purchase, "\(difference)")
                }
            }
            let types = Dictionary(
                found.compactMap { difference in
                    let entry = difference.notificationUUID.flatMap { entries[$0] }
                    return entry.map { (difference.customerId, $0.notificationType) }
                }, uniquingKeysWith: { first, _ in first })
            for (customer, type) in [
                ("full", "REFUND"), ("prorated", "REFUND"), ("shared", "REVOKE"), ("reversed", "REFUND_REVERSED"),
                ("retry", "DID_FAIL_TO_RENEW"), ("grace", "DID_FAIL_TO_RENEW"),
            ] {
                let all = (0..<orders).map { types["\(customer)\($0)"] }
                #expect(all.allSatisfy { $0 == type }, "\(customer): \(all)")
            }
        }
    }

    @Test func `Neither an older period nor a product that both sides have explains what is missing`() async throws {
        var ledger = ComparedLedger()
        // Its refund was taken back a month ago, and the other system knows it; the renewal since is missing there.
        var back = ledger.buy(ledger.customer("back"), from: -40, to: -10)
        back.facts.revocationDate = ComparedLedger.at(-35)
        ledger.tell("REFUND", nil, back, status: 5, at: -35)
        back.facts.revocationDate = nil
        ledger.tell("REFUND_REVERSED", nil, back, status: 1, at: -34)
        _ = ledger.renew(back, from: -10, to: 20)
        ledger.record("back", back.id, from: -40, to: -10)
        ledger.expect("back", "extra", .unexplained)
        // The product gives other entitlements there than here.
        let other = ledger.buy(ledger.customer("other"))
        ledger.record("other", other.id, to: 20, entitlements: "gold")
        ledger.expect("other", "extra", .unexplained)
        ledger.expect("other", "gold", .unexplained)
        try await Self.use(ledger) { _, connection, directory in
            for (name, product) in [("extra", "pro"), ("gold", "plus")] {
                _ = try await EntitlementDefinitionStore(connection).put(
                    EntitlementDefinition(
                        environment: .production, bundleId: Self.app.bundleId, name: name, productIds: [product],
                        originalApplicationVersionBefore: nil, createdAt: ComparedLedger.now, createdBy: UUID()),
                    durations: [:]
                ) { _, _ in [] }
            }
            let id = UUID()
            _ = try await Self.compare(directory.path("export.csv"), connection, into: id)
            let found = try await ComparisonStore(connection).differences(of: id, cause: nil, limit: 100)
            #expect(
                found.map { "\($0.customerId) \($0.entitlement) \($0.cause.rawValue)" }.sorted() == ledger.expected)
        }
    }

    @Test func `A purchase that a file without original transaction ids names by a renewal is found`() async throws {
        var ledger = ComparedLedger()
        let held = ledger.renew(ledger.buy(ledger.customer("owner"), from: -40, to: -10), from: -10, to: 20)
        ledger.record("claimer", nil, to: 20, transaction: held.facts.transactionId)
        ledger.expect("claimer", "pro", .otherOwner)
        ledger.expect("owner", "pro", .otherOwner)
        let retry = ledger.renew(ledger.buy(ledger.customer("retry"), from: -61, to: -31), from: -31, to: -1)
        ledger.failToRenew(retry)
        ledger.record("retry", nil, from: -31, to: 9, transaction: retry.facts.transactionId)
        ledger.expect("retry", "pro", .billingRetry)
        let same = ledger.renew(ledger.buy(ledger.customer("same"), from: -40, to: -10), from: -10, to: 20)
        ledger.record("same", nil, to: 20, transaction: same.facts.transactionId)
        try await Self.use(ledger) { _, connection, directory in
            let id = UUID()
            let counts = try await Self.compare(directory.path("export.csv"), connection, into: id)
            let found = try await ComparisonStore(connection).differences(of: id, cause: nil, limit: 100)
            #expect(
                found.map { "\($0.customerId) \($0.entitlement) \($0.cause.rawValue)" }.sorted() == ledger.expected)
            #expect(counts.equal == 1)
            let purchases = Dictionary(uniqueKeysWithValues: found.map { ($0.customerId, $0.purchase) })
            #expect(purchases == ["claimer": held.id, "owner": held.id, "retry": retry.id])
        }
    }

    @Test func `compare prints what was found, lists it, and replaces an earlier comparison of the file`() async throws
    {
        let ledger = ComparedLedger.withAllCauses()
        try await Self.use(ledger) { database, connection, directory in
            let file = directory.path("export.csv")
            let first = await Self.run(database, file, "--ask", "0", "--json")
            #expect(first.code == 1, "something is unexplained: \(first.errorOutput)")
            let summary: [String: Int] = try Self.numbers(first)
            #expect(summary["unexplained"] == 3 && summary["notInFile"] == 3 && summary["invalid"] == 0)
            let text = await Self.run(database, file, "--ask", "0")
            #expect(text.text.contains("3 unexplained") && text.text.contains("2 equal"), "\(text.text)")
            let stored = try await ComparisonStore(connection).finished(
                of: Self.app.bundleId, in: .production, within: .distantPastToFuture)
            #expect(stored.count == 1 && stored[0].takenAt == ComparedLedger.moment && stored[0].source == "revenueCat")
            let rows = try await connection.execute(unsafeSQL: "select count(*) as rows from comparison_difference")
            #expect(try rows[0].value("rows", as: Int64.self) == Int64(ledger.expected.count))
            let listed = await Self.run(database, "list", "--cause", "refundInFull")
            #expect(listed.text.contains("full") && listed.text.contains("refundInFull"), "\(listed.errorOutput)")
            #expect(!listed.text.contains("prorated"))
            #expect(await Self.run(database, "list", "--day", "2026-01-01").code == 1)
            let audit = await database.run(["audit"])
            #expect(audit.text.matches(of: #/ compare /#).count == 2 && audit.text.contains("olga"), "\(audit.text)")
            let held = try await Self.everything(connection).joined()
            #expect(!held.contains("example.com"), "e-mail addresses are not read")
        }
    }

    @Test func `The list and the report of files of several kinds are of the kind that is asked for`() async throws {
        var ledger = ComparedLedger()
        let (first, second) = (ledger.buy(ledger.customer("user-1")), ledger.buy(ledger.customer("user-2")))
        ledger.record("user-1", first.id, to: 20)
        try await Self.use(ledger) { database, _, directory in
            let end = ComparedLedger.text(ComparedLedger.at(20))
            try Self.write(
                ["id,purchase,product,until", "user-2,\(second.id),pro,\(end)"], to: directory.url("own.csv"))
            let columns = "customerId=id,originalTransactionId=purchase,productId=product,expiresAt=until"
            _ = await Self.run(database, directory.path("export.csv"), "--ask", "0")
            _ = await Self.run(database, directory.path("own.csv"), "--ask", "0", "--map", columns)
            let day = ComparedLedger.moment.day
            for further in [[], ["--day", day]] {
                func list(_ source: String) async -> CommandOutcome {
                    await CommandOutcome.of(
                        ["compare", "list", "--app", ComparedLedger.app, "--source", source] + further,
                        environment: database.environment, now: ComparedLedger.now)
                }
                let (export, own) = (await list("revenueCat"), await list("columns"))
                #expect(export.text.contains("revenueCat of ") && export.text.contains("user-2"), "\(export)")
                #expect(own.text.contains("columns of ") && own.text.contains("user-1"), "\(own)")
                #expect(!export.text.contains("user-1") && !own.text.contains("user-2"))
                let none = await list("adapty")
                #expect(none.code == 1 && none.errorOutput.contains("in Production, source adapty"), "\(none)")
                #expect(await list("revenuecat").code == 64)
            }
            let tomorrow = ComparedLedger.at(1)
            let both = await Self.run(database, "report", "--days", "1", now: tomorrow)
            #expect(both.errorOutput.contains("choose one of columns, revenueCat with --source"), "\(both)")
            let one = await Self.run(database, "report", "--days", "1", "--source", "columns", now: tomorrow)
            #expect(one.text.contains("1 difference unexplained"), "\(one)")
        }
    }

    static func numbers(_ outcome: CommandOutcome) throws -> [String: Int] {
        let object = try JSONSerialization.jsonObject(with: Data(outcome.text.utf8)) as? [String: Any]
        return (object ?? [:]).compactMapValues { $0 as? Int }
    }

    static func everything(_ connection: PostgresConnection) async throws -> [String] {
        try await connection.execute(
            unsafeSQL: """
                select row(comparison.*)::text as line from comparison
                union all select row(comparison_difference.*)::text from comparison_difference
                """
        ).map { row in try row.value("line") }
    }

    @Test
    func `Lines that cannot be used are listed and hold up no other, and an interrupted run leaves the result before`()
        async throws
    {
        let ledger = ComparedLedger.withAllCauses()
        try await Self.use(ledger) { database, connection, directory in
            let file = directory.path("export.csv")
            _ = await Self.run(database, file, "--ask", "0")
            let before = try await Self.everything(connection).sorted()
            // The comparison stays open, as if its process had been killed.
            let open = Comparison(
                id: UUID(), environment: .production, bundleId: Self.app.bundleId, source: "revenueCat",
                takenAt: ComparedLedger.moment, startedAt: ComparedLedger.now)
            let store = ComparisonStore(connection)
            try await store.begin(
                open,
                audit: OperatorAction(
                    actedAt: ComparedLedger.now, actor: "ann", operation: "compare", subject: "a file", reason: nil))
            try await store.add(
                [
                    ComparisonDifference(
                        customerId: "half", account: nil, entitlement: "pro", ours: .init(hasAccess: true, until: nil),
                        others: .init(hasAccess: false, until: nil), cause: .unexplained)
                ], to: open.id)
            #expect(
                try await store.finished(of: Self.app.bundleId, in: .production, within: .distantPastToFuture).count
                    == 1)
            try Self.write(ledger.records + ["x,x,app_store,false,1"], to: directory.url("export.csv"))
            let bad = await Self.run(database, file, "--ask", "0", "--json")
            let last = ledger.records.count + 1
            #expect(bad.code == 1 && bad.errorOutput.contains("line \(last) of"), "\(bad.errorOutput)")
            #expect(bad.text.contains("\"line\" : \(last)"))
            #expect(try Self.numbers(bad)["invalid"] == 1)
            let after = try await Self.everything(connection)
            #expect(after.count == before.count && !after.contains { $0.contains("half") })
        }
    }

    @Test func `A killed run leaves nothing that counts, and the next run nothing of it`() async throws {
        let ledger = ComparedLedger.withAllCauses()
        try await Self.use(ledger) { database, connection, directory in
            let file = directory.path("export.csv")
            func report() async -> CommandOutcome {
                await Self.run(database, "report", "--days", "1", now: ComparedLedger.at(1))
            }
            try await Self.killWhileItStores(file, database)
            let rows = try await Self.everything(connection)
            #expect(!rows.isEmpty, "it began")
            #expect(await report().text.contains("not compared"))
            #expect(await Self.run(database, "list").errorOutput.contains("no comparison"))
            let again = await Self.run(database, directory.path(""), "--ask", "0")
            #expect(again.text.contains("3 unexplained"), "a directory: \(again.errorOutput)")
            let finished = try await Self.everything(connection).sorted()
            #expect(finished.count == 1 + ledger.expected.count)
            #expect(await report().text.contains("3 differences unexplained"))
            // Once there is a result, it stays until another run is finished.
            try await Self.killWhileItStores(file, database)
            #expect(Set(finished).isSubset(of: try await Self.everything(connection)))
            #expect(await report().text.contains("3 differences unexplained"))
            _ = await Self.run(database, file, "--ask", "0")
            #expect(try await Self.everything(connection).count == finished.count)
        }
    }

    /// Runs the program until it waits to store the differences that it found, and kills it.
    private static func killWhileItStores(_ file: String, _ database: PostgresConfiguration) async throws {
        let holder = TestDatabase.connection(database)
        try await holder.run(unsafeScript: "begin; lock table comparison_difference in exclusive mode")
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(path: "storekeeper")
        process.arguments = ["compare", file, "--app", ComparedLedger.app, "--ask", "0"]
        process.environment = database.environment.merging(["USER": "olga"]) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let (ended, end) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { process in
            end.yield(process.terminationStatus)
            end.finish()
        }
        try process.start()
        _ = try await TestDatabase.blockedBackends(asking: TestDatabase.connection(database))
        kill(process.processIdentifier, SIGKILL)
        #expect(await ended.first { _ in true } == SIGKILL)
        try await holder.run(unsafeScript: "rollback")
        await holder.close()
    }

    @Test func `Of two runs of a file the one that began last counts, and the other one says so`() async throws {
        try await TestDatabase.use { database async throws in
            let store = ComparisonStore(TestDatabase.connection(database))
            func begin() async throws -> Comparison {
                let comparison = Comparison(
                    id: UUID(), environment: .production, bundleId: Self.app.bundleId, source: "revenueCat",
                    takenAt: ComparedLedger.moment, startedAt: ComparedLedger.now)
                try await store.begin(
                    comparison,
                    audit: OperatorAction(
                        actedAt: ComparedLedger.now, actor: "ann", operation: "compare", subject: "a file", reason: nil)
                )
                return comparison
            }
            let difference = ComparisonDifference(
                customerId: "user", account: nil, entitlement: "pro", ours: .init(hasAccess: true, until: nil),
                others: .init(hasAccess: false, until: nil), cause: .unexplained)
            let (first, second) = (try await begin(), try await begin())
            await #expect(throws: ComparisonStore.Superseded.self) { try await store.add([difference], to: first.id) }
            try await store.add([difference], to: second.id)
            try await store.finish(second, at: ComparedLedger.now)
            await #expect(throws: ComparisonStore.Superseded.self) {
                try await store.finish(first, at: ComparedLedger.now)
            }
            let finished = try await store.finished(
                of: Self.app.bundleId, in: .production, within: .distantPastToFuture)
            #expect(finished.map(\.id) == [second.id])
        }
    }

    @Test func `The report passes only where every day was compared, is explained, and is complete`() async throws {
        var ledger = ComparedLedger()
        let purchase = ledger.buy(ledger.customer("user-1"))
        ledger.record("user-1", purchase.id, to: 20)
        try await Self.use(ledger) { database, connection, directory in
            let now = ComparedLedger.at(3)
            func report(_ days: Int = 2) async -> CommandOutcome {
                await Self.run(database, "report", "--days", "\(days)", now: now)
            }
            let nothing = await report()
            #expect(nothing.code == 1 && nothing.text.contains("not compared; not complete by coverage"), "\(nothing)")
            for days in [1.0, 2] {
                try Self.write(
                    ledger.records, to: directory.url("export.csv"), at: ComparedLedger.at(days))
                let compared = await Self.run(database, directory.path("export.csv"), "--ask", "0", now: now)
                #expect(compared.code == 0, "\(compared.text) \(compared.errorOutput)")
            }
            #expect(await report().text.contains("not complete by coverage: not checked yet"))
            for days in [1.0, 2] {
                _ = try await connection.execute(
                    unsafeSQL: """
                        insert into coverage_day (planned_at, completed_at, window_id, day, environment, bundle_id)
                        values ($1::timestamptz, $1::timestamptz, gen_random_uuid(),
                            ($1::timestamptz at time zone 'UTC')::date, 'Production', 'com.example.app')
                        """, ComparedLedger.at(days))
            }
            let passed = await report()
            #expect(passed.code == 0 && passed.text.contains("nothing is unexplained"), "\(passed.text)")
            let steps = "webhooks create --kind apple --app com.example.app --environment Production"
            #expect(passed.text.contains(steps) && passed.text.contains("the Production Server URL of com.example.app"))
            #expect(passed.text.contains("8. Let your backend ask Storekeeper's API"))
            #expect(passed.text.contains("To go back: let your backend ask the other system"))
            #expect(!nothing.text.contains(steps))
            #expect(await report(3).code == 1)
            #expect(await report(0).code == 64)
            let json = await Self.run(database, "report", "--days", "2", "--json", now: now)
            #expect(json.code == 0 && json.text.contains("\"passed\" : true"))
            // One more file of the second day, in which the access is missing.
            try Self.write(
                [
                    ComparedLedger.header,
                    ledger.records[1].replacing(
                        ComparedLedger.text(ComparedLedger.at(20)), with: ComparedLedger.text(ComparedLedger.at(-1))),
                ],
                to: directory.url("export.csv"), at: ComparedLedger.at(2.01))
            #expect(await Self.run(database, directory.path("export.csv"), "--ask", "0", now: now).code == 1)
            let failed = await report()
            #expect(failed.code == 1 && failed.text.contains("1 difference unexplained"), "\(failed.text)")
        }
    }
}

extension Range<Date> {
    fileprivate static var distantPastToFuture: Range<Date> {
        Date(timeIntervalSince1970: 0)..<Date(timeIntervalSince1970: 4_000_000_000)
    }
}
