import Contracts
import Foundation
import Operations
import Storage

/// Which days are complete, and the windows of Apple's history that were compared for them.
struct CoverageScreens: Sendable {
    struct Cell: Sendable {
        let x: Int
        let y: Int
        let textX: Int
        let textY: Int
        let kind: String
        let sign: String
        let title: String
    }

    struct Day: Sendable {
        let day: String
        let state: String
        let kind: String
        let listed: String
        let missing: String
        let recovered: String
        let why: String
        let recover: String?
    }

    struct App: Sendable {
        let app: String
        let environment: String
        let sentence: String
        let cells: [Cell]
        let width: Int
        let label: String
        let days: [Day]
        let hasDays: Bool
    }

    struct Window: Sendable {
        let app: String
        let environment: String
        let from: String
        let to: String
        let reason: String
        let state: String
        let listed: String
        let missing: String
        let recovered: String
        let opened: Moment
        let speed: String
        let error: String?
    }

    /// An app with days that are incomplete and stay so without help.
    struct Other: Sendable {
        let sentence: String
        let address: String
    }

    /// Attempts of Apple's that ended alike.
    struct Attempts: Sendable {
        let result: String
        let count: String
        let remedy: String
    }

    struct Page: Sendable {
        let app: App?
        let choices: [Scope.Choice]
        let hasChoices: Bool
        /// Of the other apps, those with days that need help.
        let others: [Other]
        let hasOthers: Bool
        /// Apple's attempts to send what it did not deliver at once to the app, or what the ledger lacked.
        let attempts: [Attempts]
        let hasAttempts: Bool
        let windows: [Window]
        let hasWindows: Bool
        let mayRecover: Bool
    }

    struct Planned: Sendable {
        let app: String
        let environment: String
        let from: String
        let to: String
    }

    struct Plan: Sendable {
        let windows: [Planned]
        let form: ActionForm?
        let app: String
        let environment: String
        let from: String
        let to: String
        let hasPlan: Bool
    }

    private static let days = 91

    let console: Console

    /// `GET /coverage`
    func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let now = console.clock.now()
        let start = now.addingTimeInterval(Double(-Self.days) * 86_400)
        var filter = RecoveryWindowStore.Filter()
        filter.onlyWhole = true
        let (days, coverage, windows, bars) = try await console.database.withConnection { [filter] connection in
            (
                try await CoverageStore(connection).days(from: start, to: now),
                try await CoverageStore(connection).coverage(),
                try await RecoveryWindowStore(connection).windows(filter, limit: 30),
                try await SendAttemptStore(connection).histogram(from: start, to: now)
            )
        }
        let mayRecover = request.role >= .operatorRole
        let apps = Set(coverage.map { CoverageStore.App($0.environment, $0.bundleId) })
            .union(days.map { CoverageStore.App($0.environment, $0.bundleId) })
            .sorted { ($0.environment.rawValue, $0.bundleId) < ($1.environment.rawValue, $1.bundleId) }
        let wrong = days.filter(\.state.needsHelp).reduce(into: [CoverageStore.App: Int]()) { wrong, day in
            wrong[CoverageStore.App(day.environment, day.bundleId), default: 0] += 1
        }
        // The first one that needs help, unless another is asked for.
        let scope = Scope(apps.filter { wrong[$0] != nil } + apps.filter { wrong[$0] == nil }, request)
        let attempts = bars.filter { CoverageStore.App($0.environment, $0.bundleId) == scope.app }.map { bar in
            Attempts(result: bar.result, count: Figures.grouped(bar.attempts), remedy: bar.remedy ?? "")
        }
        return console.page(
            "coverage", "Coverage",
            Page(
                app: scope.app.map { app in
                    Self.app(
                        app, days.filter { CoverageStore.App($0.environment, $0.bundleId) == app }, mayRecover, now)
                },
                choices: scope.choices, hasChoices: !apps.isEmpty,
                others: apps.filter { wrong[$0] != nil && $0 != scope.app }.map { app in
                    Other(
                        sentence: "\(app.bundleId), \(app.environment.rawValue): "
                            + "\((wrong[app] ?? 0).counted("incomplete day"))",
                        address: "/coverage" + FormFields.query([("scope", Scope.value(app))]))
                },
                hasOthers: wrong.contains { $0.key != scope.app }, attempts: attempts,
                hasAttempts: attempts.contains { !$0.remedy.isEmpty }, windows: windows.map { Self.window($0, now) },
                hasWindows: !windows.isEmpty,
                mayRecover: mayRecover),
            request)
    }

    /// `GET /coverage/recover`: which windows a recovery would open.
    func plan(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let from = request.text("from")
        let requests = from == nil ? [] : try await planned(request.query)
        let scope = requests.first?.scope
        let (app, environment) = (request.text("app") ?? "", request.text("environment") ?? "")
        let to = request.text("to") ?? ""
        var form: ActionForm?
        if scope != nil {
            var command = "storekeeper recover --from \(shellWord(from ?? "")) --to \(shellWord(to))"
            if !app.isEmpty { command += " --app \(shellWord(app))" }
            if !environment.isEmpty { command += " --environment \(environment)" }
            command += " --no-wait"
            form = ActionForm(
                id: "recover", title: "Recover",
                explanation:
                    "Fetches Apple's history of this time, compares it with the ledger, and sends what is missing through "
                    + "the pipeline.",
                address: "/coverage/recover",
                button: requests.count == 1 ? "Recover this window" : "Recover these windows",
                hidden: [("app", app), ("environment", environment), ("from", from ?? ""), ("to", to)],
                command: command + " --note REASON", request)
        }
        return console.page(
            "recover", "Recover",
            Plan(
                windows: requests.map {
                    Planned(
                        app: $0.scope.bundleId, environment: $0.scope.environment.rawValue, from: $0.scope.from.text,
                        to: $0.scope.to.text)
                },
                form: form, app: app, environment: environment, from: from ?? "", to: to, hasPlan: !requests.isEmpty),
            request)
    }

    /// `POST /coverage/recover`
    func recover(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let operation = RecoverWindows(try await planned(request.form))
        let performer = try console.performer(request)
        try await console.database.withConnection { try await operation.perform(on: $0, by: performer) }
        return .redirect(to: "/coverage?done=recover")
    }

    private func planned(_ fields: [String: String]) async throws -> [RecoveryWindow.Request] {
        func text(_ name: String) -> String? { fields[name].flatMap { $0.isEmpty ? nil : $0 } }
        let now = console.clock.now()
        guard let from = text("from").flatMap(Self.date), let to = text("to").flatMap(Self.date), from < min(to, now)
        else {
            throw Fault(
                422, "Nothing was planned: these are no two days in order.",
                "Give the first day and the day after the last, such as 2026-01-31 and 2026-02-01.")
        }
        let environment = text("environment").flatMap(StoreEnvironment.init)
        let known = try await console.database.withConnection { try await CoverageStore($0).coverage() }
        let apps = try RecoverPlan.chosen(
            of: known.map { RecoverPlan.App($0.environment, $0.bundleId) }, app: text("app"), environment: environment)
        return try RecoverPlan(from: from, to: min(to, now), now: now).requests(for: apps, id: console.newId)
    }

    /// A day, 2026-03-01.
    static func date(_ text: String) -> Date? {
        Date.given(text).flatMap { $0.day == text ? $0 : nil }
    }

    // MARK: -

    private static func app(
        _ app: CoverageStore.App, _ days: [CoverageDay], _ mayRecover: Bool, _ now: Date
    ) -> App {
        let complete = days.count { $0.completedAt != nil }
        let wrong = days.count(where: \.state.needsHelp)
        // Columns are weeks, rows are days of the week.
        let origin = (now.timeIntervalSince1970 / 86_400).rounded(.down) - Double(Self.days - 1)
        let shift = (Int(origin) + 3) % 7
        let cells = days.compactMap { day -> Cell? in
            let index = Int((day.day.timeIntervalSince1970 / 86_400 - origin).rounded()) + shift
            guard index >= 0 else { return nil }
            let state = day.state.rawValue
            let (x, y) = (index / 7 * 22, index % 7 * 22)
            return Cell(
                x: x, y: y, textX: x + 10, textY: y + 14, kind: state.replacing(" ", with: "-"), sign: sign(day.state),
                title: "\(day.day.day): \(state)")
        }
        return App(
            app: app.bundleId, environment: app.environment.rawValue,
            sentence: days.isEmpty
                ? "No day is over yet since the scheduler began."
                : wrong > 0
                    ? "\(wrong.counted("day")) of the last \(days.count) \(wrong == 1 ? "is" : "are") incomplete and \(wrong == 1 ? "stays" : "stay") so without help."
                    : complete == days.count
                        ? "Every day of the last \(days.count) is complete."
                        : "\(complete) of the last \(days.count) days are complete; the others are being compared with Apple's history.",
            cells: cells, width: (Self.days + shift + 6) / 7 * 22,
            label:
                "Calendar of the last \(Self.days) days: \(complete) of \(days.count) complete. The table below has each day.",
            days: days.reversed().map { Self.day($0, app, mayRecover) }, hasDays: !days.isEmpty)
    }

    private static func day(_ day: CoverageDay, _ app: CoverageStore.App, _ mayRecover: Bool) -> Day {
        let state = day.state.rawValue
        let next = day.day.addingTimeInterval(86_400)
        return Day(
            day: day.day.day, state: state, kind: state.replacing(" ", with: "-"),
            listed: Figures.grouped(day.counts.listed), missing: Figures.grouped(day.counts.missing),
            recovered: Figures.grouped(day.counts.recovered), why: day.givenUp ?? "",
            recover: mayRecover && day.completedAt == nil
                ? "/coverage/recover"
                    + FormFields.query([
                        ("app", app.bundleId), ("environment", app.environment.rawValue), ("from", day.day.day),
                        ("to", next.day),
                    ]) : nil)
    }

    private static func sign(_ state: CoverageDay.State) -> String {
        switch state {
        case .complete: "✓"
        case .missing: "!"
        case .givenUp: "×"
        case .inProgress: "…"
        }
    }

    private static func window(_ window: RecoveryWindow, _ now: Date) -> Window {
        let end = window.closedAt ?? now
        let seconds = max(1, end.timeIntervalSince(window.createdAt))
        return Window(
            app: window.scope.bundleId, environment: window.scope.environment.rawValue, from: window.scope.from.text,
            to: window.scope.to.text, reason: window.reason.rawValue, state: window.state.rawValue,
            listed: Figures.grouped(window.counts.listed), missing: Figures.grouped(window.counts.missing),
            recovered: Figures.grouped(window.counts.recovered), opened: Moment(window.createdAt, now: now),
            speed: window.closedAt == nil
                ? "open for \(TimeSpan.age(seconds))" : "took \(TimeSpan.age(seconds))",
            error: window.lastError ?? window.cut)
    }
}
