import Contracts
import Operations
import Storage

import struct Foundation.Date
import struct Foundation.UUID

/// Comparisons with the system that an app moves from: a day in each column, a cause in each row, and the differences of a cell.
struct ComparisonScreens: Sendable {
    struct Cell: Sendable {
        let text: String
        /// Nil where there is nothing to be seen.
        let address: String?
    }

    struct Row: Sendable {
        let name: String
        let cells: [Cell]
    }

    struct Table: Sendable {
        let source: String
        /// Days, in UTC.
        let days: [String]
        let rows: [Row]
        let sentence: String
    }

    struct Page: Sendable {
        let app: String
        let tables: [Table]
        let days: Int
        let choices: [Scope.Choice]
        let hasChoices: Bool
        let commands: [String]
    }

    struct Difference: Sendable {
        let customer: String
        let accountAddress: String?
        let entitlement: String
        let here: String
        let there: String
        let cause: String
        let purchase: String
        let purchaseAddress: String?
        let notification: String
        let notificationAddress: String?
        let line: String
    }

    struct Cause: Sendable {
        let label: String
        let address: String
        let isCurrent: Bool
    }

    struct Differences: Sendable {
        let app: String
        let source: String
        let moment: Moment
        let compared: Moment
        let causes: [Cause]
        let rows: [Difference]
        let next: String?
        let command: String
    }

    /// Days that are shown at most, to today.
    private static let days = 30
    private static let limit = 100

    let console: Console

    /// `GET /compare`
    func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let now = console.clock.now()
        let (scope, comparisons, covered) = try await console.database.withConnection { connection in
            let scope = Scope(try await ConsolePages(connection).apps(), request)
            guard let app = scope.app else { return (scope, [Comparison](), [CoverageDay]()) }
            let from = now.addingTimeInterval(-Double(Self.days) * 86_400)
            return (
                scope,
                try await ComparisonStore(connection).finished(
                    of: app.bundleId, in: app.environment, within: from..<now.addingTimeInterval(1)),
                try await CoverageStore(connection).days(
                    from: from, to: now, environment: app.environment, bundleId: app.bundleId)
            )
        }
        let sources = Set(comparisons.map(\.source)).sorted()
        let command =
            "storekeeper compare report --app \(shellWord(scope.app?.bundleId ?? "com.example.app"))"
            + " --environment \(scope.app?.environment.rawValue ?? "Production")"
        return console.page(
            "compare", "Compare",
            Page(
                app: scope.app.map { "\($0.bundleId) in \($0.environment.rawValue)" } ?? "",
                tables: sources.map { source in
                    Self.table(source, comparisons.filter { $0.source == source }, covered)
                },
                days: Self.days, choices: scope.choices, hasChoices: scope.choices.count > 1,
                // A report is about one kind of file.
                commands: sources.count < 2
                    ? [command] : sources.map { "\(command) --source \(shellWord($0))" }), request)
    }

    /// The newest comparison of each day counts, as in the report.
    private static func table(_ source: String, _ comparisons: [Comparison], _ covered: [CoverageDay]) -> Table {
        var newest: [(day: String, comparison: Comparison)] = []
        for comparison in comparisons {
            let day = comparison.takenAt.day
            if newest.last?.day == day { newest.removeLast() }
            newest.append((day, comparison))
        }
        newest.reverse()
        func row(_ name: String, _ cell: (Comparison) -> Cell) -> Row {
            Row(name: name, cells: newest.map { cell($0.comparison) })
        }
        func count(_ name: String, _ count: @escaping (Comparison.Counts) -> Int) -> Row {
            row(name) { Cell(text: Figures.grouped(Int64(count($0.counts))), address: nil) }
        }
        let causes = ComparisonCause.allCases.reversed().filter { cause in
            cause == .unexplained || newest.contains { $0.comparison.counts.causes[cause.rawValue] != nil }
        }
        let open = newest.count { $0.comparison.counts.unexplained > 0 || $0.comparison.counts.invalid > 0 }
        return Table(
            source: source, days: newest.map(\.day),
            rows: causes.map { cause in
                row(Words.cause(cause)) { comparison in
                    let number = comparison.counts.causes[cause.rawValue] ?? 0
                    return Cell(
                        text: Figures.grouped(Int64(number)),
                        address: number == 0 ? nil : address(comparison.id, cause))
                }
            } + [
                count("The same on both sides") { $0.equal },
                count("Customers of the file") { $0.customers },
                count("With access here, not in the file") { $0.notInFile },
                count("Lines that could not be used") { $0.invalid },
                row("Coverage of the day") { comparison in
                    let day = covered.first { $0.day.day == comparison.takenAt.day }
                    return Cell(text: day?.state.rawValue ?? "not checked yet", address: "/coverage")
                },
            ],
            sentence: open == 0
                ? "Everything is explained on each of these days."
                : "\(open.counted("day")) with something unexplained, or with lines that could not be used.")
    }

    private static func address(_ id: UUID, _ cause: ComparisonCause?, after row: Int64? = nil) -> String {
        "/compare/\(id.uuidString.lowercased())"
            + FormFields.query([("cause", cause?.rawValue), ("after", row.map { "\($0)" })])
    }

    /// `GET /compare/{uuid}?cause=unexplained`
    func differences(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let (now, masking, uuid) = (console.clock.now(), request.masking, try request.uuid("uuid"))
        let cause = request.text("cause").flatMap(ComparisonCause.init)
        let after = request.text("after").flatMap { Int64($0) } ?? 0
        let (comparison, found) = try await console.database.withConnection { connection in
            let store = ComparisonStore(connection)
            guard let comparison = try await store.finished(uuid) else {
                throw Fault.notFound("There is no such comparison; they are kept for 90 days.")
            }
            return (
                comparison,
                try await store.differences(of: uuid, cause: cause, after: after, limit: Self.limit + 1)
            )
        }
        let shown = found.prefix(Self.limit)
        return console.page(
            "compare-differences", "Differences",
            Differences(
                app: "\(comparison.bundleId) in \(comparison.environment.rawValue)", source: comparison.source,
                moment: Moment(comparison.takenAt, now: now),
                compared: Moment(comparison.finishedAt ?? comparison.startedAt, now: now),
                causes: [Cause(label: "all", address: Self.address(uuid, nil), isCurrent: cause == nil)]
                    + ComparisonCause.allCases.filter { comparison.counts.causes[$0.rawValue] != nil }.map {
                        Cause(label: Words.cause($0), address: Self.address(uuid, $0), isCurrent: $0 == cause)
                    },
                rows: shown.map { Self.difference($0, comparison.environment, masking) },
                next: found.count > Self.limit ? shown.last.map { Self.address(uuid, cause, after: $0.id) } : nil,
                command: "storekeeper compare list --app \(shellWord(comparison.bundleId)) --environment "
                    + "\(comparison.environment.rawValue) --day \(comparison.takenAt.day) --source "
                    + shellWord(comparison.source)
                    + (cause.map { " --cause \($0.rawValue)" } ?? "")), request)
    }

    private static func difference(
        _ difference: ComparisonDifference, _ environment: StoreEnvironment, _ masking: Masking
    ) -> Difference {
        let told = difference.notificationUUID
        return Difference(
            customer: masking.id(difference.customerId),
            accountAddress: masking.account(difference.account, in: environment), entitlement: difference.entitlement,
            here: text(difference.ours) + (difference.reason.map { ", because \(Words.reason($0))" } ?? ""),
            there: text(difference.others), cause: Words.cause(difference.cause),
            purchase: masking.id(difference.purchase) ?? "",
            purchaseAddress: difference.purchase.flatMap {
                // The store does not know the page of a purchase that Apple does not have.
                told == nil
                    ? nil : masking.purchase(SubscriptionKeyText(environment: environment.rawValue, id: $0), told: told)
            },
            notification: told.map { "\($0.uuidString.lowercased().prefix(8))…" } ?? "",
            notificationAddress: told.map { "/notifications/\($0.uuidString.lowercased())" },
            line: difference.line.map { "\($0)" } ?? "not in the file")
    }

    private static func text(_ side: ComparisonDifference.Side) -> String {
        guard side.hasAccess else { return "no access" }
        return side.until.map { "until \($0.text)" } ?? "without an end"
    }
}

extension Words {
    /// Why an entitlement was not the same on both sides.
    static func cause(_ cause: ComparisonCause) -> String {
        switch cause {
        case .gracePeriod: "Grace period"
        case .billingRetry: "Billing retry"
        case .familySharing: "Family sharing"
        case .grantByHand: "Grant by hand"
        case .refundInFull: "Refund in full"
        case .refundProrated: "Refund, prorated"
        case .refundReversed: "Refund, reversed"
        case .upgrade: "Upgrade"
        case .otherOwner: "Other owner"
        case .nonRenewingDuration: "Duration of a non-renewing product"
        case .endWithinFiveMinutes: "End within five minutes"
        case .otherStore: "Other store"
        case .sandbox: "Sandbox"
        case .unknownToApple: "Unknown to Apple"
        case .unexplained: "Unexplained"
        }
    }
}
