import Foundation
import Kafka
import Postgres
import Storage

/// Reads the sections of the status screen independently of one another, each within the same time.
package struct StatusReader: Sendable {
    package let database: PostgresConfiguration
    package let kafka: KafkaConfiguration
    /// Number of recent notifications for the latency.
    package let sample: Int
    /// Time for one section.
    package let limit: Duration
    private let attention: Attention

    package init(
        database: PostgresConfiguration, kafka: KafkaConfiguration, sample: Int, limit: Duration = .seconds(2),
        attention: Attention = Attention()
    ) {
        var database = database
        // libpq knows no shorter one.
        database.connectTimeout = max(.seconds(2), limit)
        database.statementTimeout = limit
        database.answerTimeout = limit
        self.database = database
        self.kafka = kafka
        self.sample = sample
        self.limit = limit
        self.attention = attention
    }

    /// - Parameter known: told of each section once it and those before it are in the report.
    package func report(
        at now: Date, known: (PipelineStatus.ScreenSection, PipelineStatus) -> Void = { _, _ in }
    ) async -> PipelineStatus {
        async let lags = Section(within: limit) { [kafka, database, limit] in
            let connection = PostgresConnection(database, logger: .silent)
            // Not waited for: it comes behind a question that is not answered.
            defer { Task { await connection.close() } }
            return try await StageLag(
                configuration: kafka, positions: PositionStore(connection), deadline: .now + limit
            ).answer(now: now)
        }
        async let topics = Section(within: limit) { [kafka] in try await TopicProblems(configuration: kafka).sentences()
        }
        async let brokers = Section(within: limit) { [kafka, limit] in
            try await KafkaAdmin(kafka, patience: min(limit, .seconds(5)), logger: .silent).brokers(within: limit / 2)
                .map {
                    PipelineStatus.Broker(id: $0.id, address: $0.address, isReachable: $0.isReachable)
                }
        }
        // Each has a connection of its own, so that one that waits for a lock delays no other.
        async let ledger = read { try await self.ledger($0) }
        async let rejected = read { try await self.rejected($0, now) }
        async let receivers = read { try await self.receivers($0, now) }
        async let recovery = read { try await RecoveryStatus($0, now: now) }
        async let unpublished = read { try await self.unpublished($0) }
        async let blocked = read { try await self.blocked($0) }
        async let feedBlocker = read { try await self.feedBlocker($0) }
        async let version1 = read { try await self.version1($0, now) }
        async let unknownDurations = read { try await self.unknownDurations($0) }
        async let rejectedTransfers = read { try await self.rejectedTransfers($0, now) }
        async let webhooks = read { try await self.webhooks($0) }
        async let refunds = read { try await self.refunds($0, now) }
        async let figures = read { try await self.figures($0) }
        async let clockDifference = read { try await ServerClock.difference($0, now: { Date() }) }
        async let isYoung = read { try await self.isYoung($0, now) }
        let unread = "not read yet"
        var report = PipelineStatus(
            at: now, stages: .unreadable(unread), ledger: .unreadable(unread), rejected: .unreadable(unread),
            receivers: .unreadable(unread), recovery: .unreadable(unread))
        report.isYoung = await isYoung.value ?? false
        for section in PipelineStatus.ScreenSection.allCases {
            switch section {
            case .receivers: report.receivers = await receivers
            case .brokers: report.brokers = await brokers
            case .stages:
                report.stages = await lags.map(\.stages)
                report.unreadStages = await lags.value?.unread ?? [:]
            case .ledger: report.ledger = await ledger
            case .unpublished: report.unpublished = await unpublished
            case .blocked: report.blocked = await blocked
            case .recovery: report.recovery = await recovery
            case .rejected: report.rejected = await rejected
            }
            known(section, report)
        }
        report.feedBlocker = await feedBlocker.value ?? nil
        report.version1 = await version1.value ?? []
        report.unknownDurations = await unknownDurations.value ?? []
        report.rejectedTransfers = await rejectedTransfers.value ?? []
        report.webhooks = await webhooks.value ?? []
        report.refunds = await refunds.value ?? []
        report.figures = await figures.value
        report.clockDifference = await clockDifference.value
        report.topicProblems = await topics.value ?? []
        report.unread = [
            "event feed": await feedBlocker.problem, "notifications of version 1": await version1.problem,
            "durations of products": await unknownDurations.problem, "restores": await rejectedTransfers.problem,
            "webhooks": await webhooks.problem, "refund requests": await refunds.problem,
            "figures of revenue": await figures.problem, "database's clock": await clockDifference.problem,
            "topics": report.stages.problem == nil ? await topics.problem : nil,
        ].compactMapValues { $0 }
        report.attention = attention.sentences(on: report)
        report.hints = attention.hints(on: report)
        return report
    }

    private func read<Value: Sendable & Encodable>(
        _ body: @escaping @Sendable (PostgresConnection) async throws -> Value
    ) async -> Section<Value> {
        await Section(within: limit) { [database] in try await Self.connected(to: database, body) }
    }

    private static func connected<Value: Sendable>(
        to database: PostgresConfiguration, _ body: @Sendable (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        let connection = PostgresConnection(database, logger: .silent)
        do {
            let value = try await body(connection)
            await connection.close()
            return value
        } catch {
            await connection.close()
            throw error
        }
    }

    private func refunds(_ connection: PostgresConnection, _ now: Date) async throws -> [PipelineStatus.Refunds] {
        try await RefundStatusStore(connection).status(at: now).map { row in
            PipelineStatus.Refunds(
                app: row.bundleId, environment: row.environment.rawValue, open: row.open, deadline: row.deadline,
                waiting: row.waiting, oldestWaiting: row.oldestWaiting, missed: row.missed, failed: row.failed)
        }
    }

    private func figures(_ connection: PostgresConnection) async throws -> PipelineStatus.Figures {
        let status = try await FigureStore(connection).status()
        return PipelineStatus.Figures(
            asOf: status.asOf, checkedAt: status.checkedAt, uncheckedSince: status.uncheckedSince,
            differences: status.differences)
    }

    private func webhooks(_ connection: PostgresConnection) async throws -> [PipelineStatus.Webhook] {
        let store = WebhookEndpointStore(connection)
        let entries = try await store.all()
        let waiting = entries.isEmpty ? [:] : try await store.waiting()
        return entries.map { entry in
            PipelineStatus.Webhook(
                id: entry.endpoint.id.uuidString.lowercased(), url: entry.endpoint.url,
                state: entry.shownState, lastFault: entry.health.lastFault,
                waiting: waiting[entry.endpoint.id]?.count ?? 0, oldest: waiting[entry.endpoint.id]?.oldest)
        }
    }

    private func unpublished(_ connection: PostgresConnection) async throws -> PipelineStatus.Unpublished {
        guard let waiting = try await OutboxStore(connection).unpublished() else { return PipelineStatus.Unpublished() }
        return PipelineStatus.Unpublished(count: waiting.count, oldest: waiting.oldest)
    }

    private func blocked(_ connection: PostgresConnection) async throws -> [PipelineStatus.Blocked] {
        try await connection.execute(BlockingSession.all).map { row in
            let session = try BlockingSession(row)
            return PipelineStatus.Blocked(
                application: session.waitingApplication, since: session.waitingSince, seconds: session.waited,
                by: session.sentence, process: session.process)
        }
    }

    private func feedBlocker(_ connection: PostgresConnection) async throws -> PipelineStatus.FeedBlocker? {
        guard let writer = try await EventFeed(connection).blocker(), let since = writer.since, let age = writer.age
        else {
            return nil
        }
        return PipelineStatus.FeedBlocker(since: since, seconds: age, by: writer.sentence, remedy: writer.remedy)
    }

    /// A heartbeat is sent when its minute is over, and the scheduler stores it in its next round.
    private func isYoung(_ connection: PostgresConnection, _ now: Date) async throws -> Bool {
        guard let beginning = try await IncidentStore(connection).beginning() else { return false }
        // The database's clock may be slightly ahead.
        return (-60..<180).contains(now.timeIntervalSince(beginning))
    }

    private func unknownDurations(_ connection: PostgresConnection) async throws -> [PipelineStatus.UnknownDuration] {
        try await ProductStore(connection).durations().filter { $0.endless > 0 }.map {
            PipelineStatus.UnknownDuration(app: $0.bundleId, product: $0.productId, purchases: $0.endless)
        }
    }

    private func rejectedTransfers(
        _ connection: PostgresConnection, _ now: Date
    ) async throws -> [PipelineStatus.RejectedTransfers] {
        try await TransferStore(connection).rejected(since: now.addingTimeInterval(-86_400)).map {
            PipelineStatus.RejectedTransfers(
                app: $0.bundleId, environment: $0.environment.rawValue, purchases: $0.purchases)
        }
    }

    private func ledger(_ connection: PostgresConnection) async throws -> PipelineStatus.Ledger {
        let newest = try await IncidentStore(connection).newest()
        let milliseconds = try await StatusStore(connection).latencies(ofLast: sample)
            .map { ($0 * 1000).rounded() }.sorted()
        return PipelineStatus.Ledger(
            lastReceivedAt: newest?.receivedAt, lastRecordedAt: newest?.recordedAt, sample: milliseconds.count,
            webhookToStateP50: milliseconds.percentile(0.5), webhookToStateP99: milliseconds.percentile(0.99))
    }

    private func rejected(_ connection: PostgresConnection, _ now: Date) async throws -> [PipelineStatus.Rejected] {
        try await IncidentStore(connection).rejections(since: now.addingTimeInterval(-86_400), now: now).map {
            PipelineStatus.Rejected(stage: $0.stage, reason: $0.reason, count: $0.count, recent: $0.recent)
        }
    }

    private func version1(_ connection: PostgresConnection, _ now: Date) async throws -> [PipelineStatus.Version1] {
        try await IncidentStore(connection).version1(since: now.addingTimeInterval(-86_400)).map {
            PipelineStatus.Version1(
                app: $0.bundleId, environment: $0.environment.rawValue, count: $0.count, last: $0.last)
        }
    }

    private func receivers(_ connection: PostgresConnection, _ now: Date) async throws -> [PipelineStatus.Receiver] {
        try await IncidentStore(connection).receivers(since: now.addingTimeInterval(-3600)).map {
            PipelineStatus.Receiver(
                instance: $0.instance, lastMinute: $0.lastMinute, accepted: $0.accepted, rejected: $0.rejected,
                unavailable: $0.unavailable, lastUnavailable: $0.lastUnavailable,
                isStopped: $0.isStopped)
        }
    }
}
