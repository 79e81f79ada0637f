import Contracts
import Operations
import Storage

import struct Foundation.Date

/// `GET /pipeline`: the stages in the order in which a notification passes them; one in trouble says what to do.
struct PipelineScreen: Sendable {
    struct Stage: Sendable {
        let name: String
        let does: String
        let rate: String?
        /// Nil for ingest, which reads requests and no topic.
        let queue: Queue?
        let note: String?
        let trouble: String?
        let fault: StageFault?
        let sparkline: Sparkline?
    }

    struct Queue: Sendable {
        let waiting: String
        let lag: String

        /// Partitions that could not be read may hold more.
        init(_ stage: PipelineStatus.Stage) {
            let bound = stage.unreadPartitions.isEmpty ? "" : "at least "
            waiting = bound + Figures.grouped(stage.waiting)
            lag = bound + (stage.behindSeconds.map { TimeSpan.age($0) } ?? "0 s")
        }
    }

    /// The last error of a stage within a day: what it rejected, or why its work for an app fails.
    struct StageFault: Sendable {
        let text: String
        let at: Moment?
        let address: String
    }

    struct Receiver: Sendable {
        let name: String
        let last: Moment
        let accepted: String
        let rejected: String
    }

    struct Page: Sendable {
        let looked: Moment?
        let stages: [Stage]
        let problem: String?
        let receivers: [Receiver]
        let hasReceivers: Bool
        let latency: String?
        let others: [String]
        let hasOthers: Bool
        let chart: ChartTable?
    }

    let console: Console

    func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let now = console.clock.now()
        let view = console.status.current
        let report = view.report
        let attention = (report?.attention ?? []) + (report?.hints ?? [])
        let rejected = try await console.database.withConnection { connection in
            try await DeadLetterGroups(connection).newestByStage(since: now.addingTimeInterval(-86_400))
        }
        let faults = Self.faults(rejected, report?.recovery.value, now)
        let stages = (report?.stages.value ?? []).map { stage in
            Stage(
                name: stage.name, does: ServiceKind(rawValue: Self.service(of: stage.name))?.purpose ?? "",
                rate: view.rates[stage.name].map(Self.rate),
                queue: Queue(stage), note: nil,
                trouble: attention.first { $0.hasPrefix("\(stage.name) ") && !$0.hasPrefix("\(stage.name) (") },
                fault: faults[stage.name] ?? faults[Self.service(of: stage.name)],
                sparkline: Sparkline(view.knownLags(of: stage.name), "Lag of \(stage.name) in seconds"))
        }
        let receivers = report?.receivers.value ?? []
        let silent = attention.first { $0.hasPrefix("receiver ") || $0.hasPrefix("no receiver ") }
        let names = stages.map { "\($0.name) " } + ["receiver ", "no receiver "]
        let others = attention.filter { sentence in !names.contains { sentence.hasPrefix($0) } }
        return console.page(
            "pipeline", "Pipeline",
            Page(
                looked: report.map { Moment($0.at, now: now) },
                stages: (report == nil ? [] : [Self.ingest(receivers, silent, now)]) + stages,
                problem: report?.stages.problem,
                receivers: receivers.map { receiver in
                    Receiver(
                        name: receiver.instance + (receiver.isStopped ? " (stopped)" : ""),
                        last: Moment(receiver.lastMinute, now: now),
                        accepted: Figures.grouped(receiver.accepted), rejected: Figures.grouped(receiver.rejected))
                },
                hasReceivers: !receivers.isEmpty, latency: Self.latency(report), others: others,
                hasOthers: !others.isEmpty, chart: ChartTable(lags: view, now: now)),
            request)
    }

    /// From its heartbeats: what it accepted within the last hour.
    static func ingest(_ receivers: [PipelineStatus.Receiver], _ silent: String?, _ now: Date) -> Stage {
        let last = receivers.map(\.lastMinute).max()
        let rejected = receivers.reduce(0) { $0 + $1.rejected }
        return Stage(
            name: "ingest", does: ServiceKind.ingest.purpose,
            rate: Self.rate(Double(receivers.reduce(0) { $0 + $1.accepted }) / 3600), queue: nil,
            note: "in the last hour; \(Figures.grouped(rejected)) requests rejected; "
                + (last.map { "last heartbeat \(Moment($0, now: now).distance)" } ?? "no heartbeat"),
            trouble: silent, fault: nil, sparkline: nil)
    }

    /// Faults by the name of the stage, or of its service.
    static func faults(
        _ rejected: [DeadLetterGroups.IndexedDeadLetter], _ recovery: RecoveryStatus?, _ now: Date
    ) -> [String: StageFault] {
        var faults: [String: StageFault] = [:]
        for deadLetter in rejected {
            guard let stage = deadLetter.criteria.stage else { continue }
            faults[stage] = StageFault(
                text:
                    "rejected a record, \(deadLetter.criteria.reason ?? "unknown"): \(deadLetter.message.prefix(200))",
                at: Moment(deadLetter.rejectedAt, now: now),
                address: "/dead-letters/list" + FormFields.query([("stage", stage)]))
        }
        if let error = recovery?.unsettled.last(where: { $0.lastError != nil })?.lastError {
            faults["scheduler"] = StageFault(
                text: "a window of history failed: \(error)", at: nil, address: "/coverage")
        }
        if let postponed = recovery?.postponed.first {
            faults["recovery (\(Topics.recoveryRequests.name))"] = StageFault(
                text: "the history of customers of \(postponed.bundleId) waits: \(postponed.lastError)",
                at: Moment(postponed.since, now: now), address: "/coverage")
        }
        return faults
    }

    private static func latency(_ report: PipelineStatus?) -> String? {
        guard let ledger = report?.ledger.value, let p50 = ledger.webhookToStateP50,
            let p99 = ledger.webhookToStateP99
        else { return nil }
        return
            "From webhook to state: half within \(Int(p50)) ms, 99 % within \(Int(p99)) ms, of the last \(ledger.sample) notifications."
    }

    /// `verifier` of `verifier (notifications.deferred)`.
    private static func service(of stage: String) -> String { String(stage.prefix { $0 != " " }) }

    /// Small rates with a digit behind the point.
    private static func rate(_ perSecond: Double) -> String {
        let tenths = Int64((perSecond * 10).rounded())
        return tenths < 100 ? "\(tenths / 10).\(tenths % 10)" : Figures.grouped(tenths / 10)
    }
}
