import AppStore
import Foundation

/// The problems in a status report. Pure.
package struct Attention: Sendable {
    /// Acceptable lag of a stage, seconds.
    package var lag: Double = 60
    /// Acceptable silence of a receiver that was alive within the last hour.
    package var silence: TimeInterval = 180
    /// Forged notifications that any public address receives within a day.
    package var forged = 1000
    /// Forged notifications within ten minutes from which on a client floods ingest.
    package var flood = 200
    /// How long after the last answer 503 it is told, seconds.
    package var unavailability: TimeInterval = 600
    /// Acceptable age of a change that is not published, seconds.
    package var publishing: TimeInterval = 60
    /// Acceptable age of a change that an endpoint of webhooks has not taken, seconds.
    package var delivery: TimeInterval = 900
    /// Acceptable age of an answer to a refund request that Apple has not taken, seconds.
    package var answering: TimeInterval = 1800
    /// Acceptable age of the figures of revenue, seconds.
    package var figuring: TimeInterval = 900
    /// Acceptable age of an event that the feed does not show, seconds.
    package var deciding: TimeInterval = 30
    /// Acceptable age of the check of the figures of revenue, which is nightly, seconds.
    package var checking: TimeInterval = 172_800
    /// Acceptable wait for a lock, seconds.
    package var lock: TimeInterval = 1

    package init() {}

    /// One kind of problem.
    private struct Kind: Sendable {
        /// For the help of `storekeeper status`.
        var summary: String
        /// One for each problem that the report has.
        var sentences: @Sendable (Attention, PipelineStatus) -> [String]

        init(_ summary: String, _ sentences: @escaping @Sendable (Attention, PipelineStatus) -> [String]) {
            self.summary = summary
            self.sentences = sentences
        }
    }

    /// Most urgent first: unreadable sections, lost notifications, delays, rejections. The summaries have the thresholds above.
    private static let kinds = [
        Kind("an unreadable section") { $0.unreadable($1) },
        Kind("a statement that waits for a lock") { $0.blocked($1) },
        Kind("a transaction for which the feed of events has waited for 30 seconds") { $0.feed($1) },
        Kind("requests answered 503 within ten minutes") { $0.unanswered($1) },
        Kind("a broker that this machine does not reach") { $0.unreachable($1) },
        Kind(
            """
            missing notifications, a lost test notification, a window (span) of Apple's history that failed or is open for \
            an hour, customers whose history cannot be fetched for an hour, failed deliveries not checked for two hours
            """
        ) { $1.recovery.value?.attention(at: $1.at) ?? [] },
        Kind("a topic that was created again within a day") { $0.restarted($1) },
        Kind("notifications of version 1 within a day") { $0.unsigned($1) },
        Kind("a receiver without heartbeat for 3 minutes or none at all") { $0.receivers($1) },
        Kind("clocks that differ by more than 5 seconds") { $0.clocks($1) },
        Kind("topics that do not exist or that setup would change") { $1.topicProblems },
        Kind("a stage more than a minute behind") { $0.behind($1) },
        Kind("changes not published for a minute") { $0.unpublished($1) },
        Kind("an endpoint of webhooks that is disabled, fails or is 15 minutes late") { $0.webhooks($1) },
        Kind(
            """
            refund requests without an answer in time within a day, answers to them that Apple rejected within a day or has \
            not taken for half an hour
            """
        ) { $0.refunds($1) },
        Kind("figures of revenue that differ, are 15 minutes old or were not checked for two days") { $0.figures($1) },
        Kind(
            """
            verified notifications rejected by a later stage, more than 1000 others rejected within a day or 200 within ten \
            minutes
            """
        ) { $0.rejections($1) },
        Kind("restores rejected within a day") { $0.transfers($1) },
    ]

    /// Everything that is a problem, for help.
    package static var summary: String { kinds.map(\.summary).joined(separator: ", ") }

    /// Most urgent first.
    package func sentences(on report: PipelineStatus) -> [String] {
        Self.kinds.flatMap { $0.sentences(self, report) }
    }

    /// What is no problem, and an operator may want to set.
    package func hints(on report: PipelineStatus) -> [String] {
        orphans(report) + products(report) + late(report)
    }

    private func orphans(_ report: PipelineStatus) -> [String] {
        (report.stages.value ?? []).filter { !$0.orphanedPartitions.isEmpty }.map { stage in
            let partitions = stage.orphanedPartitions.map(String.init).joined(separator: ", ")
            return
                "\(stage.name) has stored offsets of partitions that \(stage.topic) does not have (\(partitions)), and ignores "
                + "them: storekeeper offsets reset deletes them"
        }
    }

    private func late(_ report: PipelineStatus) -> [String] {
        guard report.isLate else { return [] }
        return [
            "what did not answer in time may be slow or far away: a longer --timeout of storekeeper status waits for it (default: 2 s)"
        ]
    }

    private func blocked(_ report: PipelineStatus) -> [String] {
        (report.blocked.value ?? []).compactMap { blocked in
            guard blocked.seconds ?? lock >= lock else { return nil }
            let since = blocked.seconds.map { " for \(TimeSpan.age($0))" } ?? ""
            let end = blocked.process == 0 ? "" : "; end it, or: select pg_terminate_backend(\(blocked.process))"
            return "\(blocked.application) has waited for a lock\(since): \(blocked.by.escaped)\(end)"
        }
    }

    private func feed(_ report: PipelineStatus) -> [String] {
        guard let blocker = report.feedBlocker, blocker.seconds > deciding else { return [] }
        return [
            "GET /v1/events shows no event that was stored within the last \(TimeSpan.age(blocker.seconds)): "
                + "\(blocker.by.escaped); end it, or \(blocker.remedy.escaped)"
        ]
    }

    private func unanswered(_ report: PipelineStatus) -> [String] {
        let receivers = report.receivers.value ?? []
        let count = receivers.reduce(0) { $0 + $1.unavailable }
        // A heartbeat is for a minute that is over.
        guard let last = receivers.compactMap(\.lastUnavailable).max(),
            report.at.timeIntervalSince(last) - 60 < unavailability
        else { return [] }
        let all = receivers.reduce(0) { $0 + $1.accepted + $1.rejected }
        return [
            "ingest answered \(count) of \(all) requests within the last hour with 503, the last \(TimeSpan.age(max(0, report.at.timeIntervalSince(last) - 60))) "
                + "ago: Apple repeats them; its log says why, mostly that Kafka does not store in time: check the brokers"
        ]
    }

    private func unreachable(_ report: PipelineStatus) -> [String] {
        let brokers = report.brokers.value ?? []
        let lost = brokers.filter { !$0.isReachable }
        // Where none is reachable, Kafka is.
        guard !lost.isEmpty, lost.count < brokers.count else { return [] }
        let names = lost.map { "\($0.address.escaped) (broker \($0.id))" }.joined(separator: ", ")
        return [
            "\(brokers.count - lost.count) of \(brokers.count) Kafka brokers are reachable from here, not \(names): ingest "
                + "writes to the others; check that it runs, and the network to it"
        ]
    }

    private func restarted(_ report: PipelineStatus) -> [String] {
        (report.stages.value ?? []).compactMap { stage in
            guard let at = stage.restartedAt else { return nil }
            return
                "\(stage.topic) was created again, or lost records: \(stage.name) began again at its beginning "
                + "\(TimeSpan.age(report.at.timeIntervalSince(at))) ago: storekeeper recover --from a time before that happened"
        }
    }

    private func unsigned(_ report: PipelineStatus) -> [String] {
        report.version1.map { version1 in
            "App Store Connect sends version 1 of the notifications of \(version1.app.escaped) in \(version1.environment) "
                + "(\(version1.count) within 24 hours, the last \(TimeSpan.age(max(0, report.at.timeIntervalSince(version1.last)))) ago), "
                + "which has no signature and changes no state: set the URL there to Version 2 Notifications, then storekeeper "
                + "backfill; if it is set so, another client posts them (allow 17.0.0.0/8 only)"
        }
    }

    private func unpublished(_ report: PipelineStatus) -> [String] {
        guard let unpublished = report.unpublished.value, let oldest = unpublished.oldest else { return [] }
        let age = report.at.timeIntervalSince(oldest)
        guard age > publishing else { return [] }
        return [
            "\(unpublished.count) changes are stored and not published to subscriptions.changed, the oldest for "
                + "\(TimeSpan.age(age)): the state-updater's log says why (Could not publish changes)"
        ]
    }

    private func unreadable(_ report: PipelineStatus) -> [String] {
        var sentences: [String] = []
        if let problem = report.stages.problem {
            let isThere = report.brokers.value?.contains(where: \.isReachable) == true
            sentences.append(
                isThere
                    ? "the lag of the stages is unknown: \(problem)"
                    : "Kafka is unavailable; the lag of the stages is unknown")
        }
        sentences += (report.stages.value ?? []).filter { !$0.unreadPartitions.isEmpty }.map { stage in
            "the lag of \(stage.name) leaves out partitions of \(stage.topic) whose leader does not answer here: "
                + stage.unreadPartitions.map(String.init).joined(separator: ", ")
        }
        let database = [
            ("ledger", report.ledger.problem), ("dead letters", report.rejected.problem),
            ("receivers", report.receivers.problem), ("recovery", report.recovery.problem),
            ("publishing", report.unpublished.problem), ("locks", report.blocked.problem),
        ].filter { $0.1 != nil }.map(\.0)
        let lags = report.unreadStages.map { ("lag of \($0.key)", $0.value) }
        var unread = report.unread
        if database.count == 6 {
            sentences.append("the database is unavailable; check that Postgres runs and answers (disk, connections)")
            // The rest is unread for the same reason, except for what Kafka is asked about.
            unread = unread.filter { $0.key == "topics" }
        } else if !database.isEmpty {
            sentences.append(
                "the database is unavailable for some sections (\(database.joined(separator: ", "))), which say why")
        }
        return sentences
            + unread.merging(lags) { $1 }.sorted { $0.key < $1.key }
            .map { "the \($0.key) could not be looked at: \($0.value)" }
    }

    private func behind(_ report: PipelineStatus) -> [String] {
        (report.stages.value ?? []).compactMap { stage in
            guard let seconds = stage.behindSeconds, seconds > lag else { return nil }
            if stage.isStalled {
                return
                    "\(stage.name) is \(TimeSpan.age(seconds)) behind and committed none of the \(stage.waiting) records that "
                    + "wait while this looked: its /readyz says why; restart it if none of its instances can be asked"
            }
            return
                "\(stage.name) is \(TimeSpan.age(seconds)) behind, \(stage.waiting) records: check that it runs, or "
                + "start more instances"
        }
    }

    private func products(_ report: PipelineStatus) -> [String] {
        report.unknownDurations.map { unknown in
            """
            \(unknown.purchases.counted("purchase")) of \(unknown.product.escaped) \
            \(unknown.purchases == 1 ? "gives" : "give") access without an end, because Apple tells no duration of \
            a non-renewing product: storekeeper products durations --app \(unknown.app.escaped) \
            \(unknown.product.escaped)=P1M
            """
        }
    }

    private func transfers(_ report: PipelineStatus) -> [String] {
        report.rejectedTransfers.map { rejected in
            """
            restores of \(rejected.purchases.counted("purchase")) of \(rejected.app.escaped) in \
            \(rejected.environment) were rejected within 24 hours, because they had moved between accounts too \
            often: storekeeper customers shared --app \
            \(rejected.app.escaped)
            """
        }
    }

    /// Rejections by the verifier are mostly unsolicited requests, unless there are many; later stages reject verified
    /// notifications.
    private func rejections(_ report: PipelineStatus) -> [String] {
        let rejected = report.rejected.value ?? []
        let later = rejected.filter { $0.stage != "verifier" }.map {
            "\($0.stage) rejected \($0.count.counted("verified notification")) (\($0.reason)): "
                + "storekeeper dead-letters list --stage \($0.stage), and once the cause is repaired storekeeper dead-letters replay "
                + "--all --stage \($0.stage) --reason \($0.reason)"
        }
        let own = rejected.filter { $0.stage == "verifier" }
        func isProven(_ row: PipelineStatus.Rejected) -> Bool {
            VerificationFailureReason(rawValue: row.reason)?.isProven ?? false
        }
        return later + unproven(own.filter { !isProven($0) }) + proven(own.filter(isProven))
    }

    private func unproven(_ rejected: [PipelineStatus.Rejected]) -> [String] {
        let recent = rejected.reduce(0) { $0 + $1.recent }
        if recent >= flood, let most = rejected.max(by: { $0.recent < $1.recent }) {
            return [
                "verifier rejected at least \(recent) notifications within ten minutes, most of them for \(most.reason): a client "
                    + "floods ingest with what Apple did not sign: find its address in the load balancer's log and block it "
                    + "(allow 17.0.0.0/8 only); storekeeper dead-letters list --from 10m"
            ]
        }
        let count = rejected.reduce(0) { $0 + Int($1.count) }
        guard count > forged, let most = rejected.max(by: { $0.count < $1.count }) else { return [] }
        return [
            "verifier rejected at least \(count) notifications within 24 hours, most of them for \(most.reason): another client than "
                + "Apple posts them (allow 17.0.0.0/8 only), or the trusted roots are wrong"
        ]
    }

    /// Their sender may be Apple, so the advice is not to block it.
    private func proven(_ rejected: [PipelineStatus.Rejected]) -> [String] {
        let count = rejected.reduce(0) { $0 + Int($1.count) }
        guard count > forged || rejected.reduce(0, { $0 + $1.recent }) >= flood,
            let most = rejected.max(by: { $0.count < $1.count })
        else { return [] }
        return [
            "verifier rejected at least \(count) notifications within 24 hours that Apple had signed, most of them for "
                + "\(most.reason): the file of apps is wrong, or another developer's notifications arrive here: storekeeper dead-letters "
                + "list --stage verifier, and once that is repaired storekeeper dead-letters replay --all --reason \(most.reason)"
        ]
    }
}
