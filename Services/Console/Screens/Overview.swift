import Contracts
import Operations
import Storage

import struct Foundation.Date

/// `GET /`: whether all is well, or what is not, the most urgent first.
struct OverviewScreen: Sendable {
    struct Item: Sendable {
        let sentence: String
        let address: String
        let label: String
    }

    struct Figure: Sendable {
        let label: String
        let value: String
        let note: String
        let address: String
        let sparkline: Sparkline?
    }

    struct Stage: Sendable {
        let name: String
        let queue: PipelineScreen.Queue
        let sparkline: Sparkline?
    }

    struct Page: Sendable {
        let isWell: Bool
        let headline: String
        let items: [Item]
        let looked: Moment?
        let figures: [Figure]
        let stages: [Stage]
        let stagesProblem: String?
        let charts: [ChartTable]
    }

    let console: Console

    func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let now = console.clock.now()
        let view = console.status.current
        let (perMinute, newest, rejections, days, canaries) = try await console.database.withConnection {
            connection in
            (
                try await ConsolePages(connection).perMinute(since: now.addingTimeInterval(-3600)),
                try await IncidentStore(connection).newest(),
                try await IncidentStore(connection).rejections(since: now.addingTimeInterval(-86_400), now: now),
                try await CoverageStore(connection).days(from: now.addingTimeInterval(-30 * 86_400), to: now),
                try await CanaryStore(connection).newest(1)
            )
        }
        let items = ((view.report?.attention ?? []) + (view.report?.hints ?? [])).map(Self.item)
        let minutes = Self.filled(perMinute, until: now)
        let rejected = rejections.reduce(0) { $0 + $1.count }
        let complete = days.count { $0.completedAt != nil }
        let canary = canaries.first
        let figures = [
            Figure(
                label: "Last notification",
                value: newest.map { Moment($0.recordedAt, now: now).distance } ?? "none yet",
                note: "\(Figures.grouped(Int64(minutes.reduce(0, +)))) in the last hour", address: "/notifications",
                sparkline: Sparkline(minutes, "Notifications per minute in the last hour")),
            Figure(
                label: "Open dead letters, 24 hours", value: Figures.grouped(Int64(rejected)),
                note: rejections.first.map { "most: \($0.reason)" } ?? "none is open",
                address: "/dead-letters", sparkline: nil),
            Figure(
                label: "Complete days of the last 30",
                value: days.isEmpty ? "none yet" : "\(complete) of \(days.count)",
                note: days.isEmpty
                    ? "the scheduler begins with the first full day" : "every notification accounted for",
                address: "/coverage", sparkline: nil),
            Figure(
                label: "Test notification", value: canary.map(Self.outcome) ?? "none yet",
                note: canary.map { "sent \(Moment($0.requestedAt, now: now).distance)" }
                    ?? "the scheduler sends them where it has keys",
                address: "/coverage", sparkline: nil),
        ]
        let count = items.count
        let isKnown = view.report != nil
        return console.page(
            "overview", "Overview",
            Page(
                isWell: isKnown && items.isEmpty,
                headline: !isKnown
                    ? "Looking at the pipeline; reload in a few seconds."
                    : items.isEmpty
                        ? "All well." : count == 1 ? "1 thing needs attention." : "\(count) things need attention.",
                items: items, looked: view.report.map { Moment($0.at, now: now) }, figures: figures,
                stages: (view.report?.stages.value ?? []).map { stage in
                    Stage(
                        name: stage.name, queue: PipelineScreen.Queue(stage),
                        sparkline: Sparkline(view.knownLags(of: stage.name), "Lag of \(stage.name) in seconds"))
                },
                stagesProblem: view.report?.stages.problem,
                charts: [ChartTable("Notifications per minute in the last hour", minutes: minutes, until: now)]
                    + (ChartTable(lags: view, now: now).map { [$0] } ?? [])),
            request)
    }

    static func outcome(_ canary: Canary) -> String { canary.outcome?.rawValue ?? "on its way" }

    /// Where a sentence of ``Attention`` leads.
    static func item(_ sentence: String) -> Item {
        func leads(_ words: String...) -> Bool { words.contains { sentence.contains($0) } }
        let (address, label) =
            if leads("rejected") {
                ("/dead-letters", "Dead letters")
            } else if leads("missing", "window ", "failed deliveries", "test notification", "wait for their history") {
                ("/coverage", "Coverage")
            } else {
                ("/pipeline", "Pipeline")
            }
        return Item(
            sentence: sentence.prefix(1).uppercased() + sentence.dropFirst() + ".", address: address, label: label)
    }

    /// Sixty minutes, with zeros where nothing came.
    private static func filled(_ rows: [(minute: Date, count: Int64)], until now: Date) -> [Double] {
        let start = ((now.timeIntervalSince1970 / 60).rounded(.down) - 59) * 60
        var minutes = [Double](repeating: 0, count: 60)
        for row in rows {
            let index = Int(((row.minute.timeIntervalSince1970 - start) / 60).rounded())
            if minutes.indices.contains(index) { minutes[index] = Double(row.count) }
        }
        return minutes
    }
}
