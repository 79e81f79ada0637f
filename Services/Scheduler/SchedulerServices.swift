import Bootstrap
import Chassis
import Contracts
import Kafka
import Pipeline
import Postgres
import ServerAPI
import Storage

import struct Foundation.Date
import struct Foundation.UUID

/// Builds the scheduler's services.
struct SchedulerServices {
    private let context: ServiceContext<Configuration>
    private let newId: @Sendable () -> UUID
    private let random: @Sendable () -> Double
    private let apple: AppleAPI
    private let apps: ScheduledApps
    private let producerService: ProducerService

    /// - Throws: `ConfigurationProblems` with what is wrong in the files.
    init(_ context: ServiceContext<Configuration>, clock: APIClock, newId: @escaping @Sendable () -> UUID) throws {
        let settings = context.settings
        self.context = context
        self.newId = newId
        random = clock.random
        let watcher = try TrustWatcher(
            apps: settings.apps, roots: settings.roots ?? [], developmentMode: settings.developmentMode,
            logger: context.logger)
        let unknown = settings.unknownFollowedApps(among: watcher.apps.all.map(\.bundleId))
        guard unknown.isEmpty else { throw ConfigurationProblems(unknown) }
        apple = try AppleAPI(
            watcher, keys: settings.keys, url: settings.api, developmentMode: settings.developmentMode, clock: clock,
            limits: SharedAPILimits.each(
                PostgresConnection(settings.postgres(for: "scheduler"), logger: context.logger),
                share: settings.limitShare, urgency: .background, clock: clock, logger: context.logger))
        producerService = try ProducerService(
            try settings.kafka(), for: .scheduler, of: Topics.plan, logger: context.logger)
        apps = ScheduledApps(
            accepted: { watcher.apps }, clients: apple.clients, deadline: settings.windowLease / 2,
            logger: context.logger)
        apps.warnOfMissingKeys()
    }

    func services() async throws -> [any Service] {
        let listener = try await WorkerConnection(
            context, stage: .scheduler, part: "heartbeats", reading: Topics.heartbeats.route, of: Topics.plan,
            sharing: producerService)
        let listening = listener.services(
            running: ReadHeartbeats(),
            settlement: StoreHeartbeats(heartbeats: HeartbeatStore(connect()), connection: listener))
        return [SchemaReadiness(context, service: "scheduler", apple: apple.time), apple, producerService]
            + listening + [fetching()] + leasedJobs()
    }

    /// Each kind of work has its own connection, so that none waits for another.
    private func connect() -> PostgresConnection {
        PostgresConnection(context.settings.postgres(for: "scheduler"), logger: context.logger)
    }

    /// A connection without a limit for the time of a statement, for what reads whole tables; the liveness probe ends what hangs.
    private func connectPatiently() -> PostgresConnection {
        var configuration = context.settings.postgres(for: "scheduler")
        configuration.statementTimeout = nil
        return PostgresConnection(configuration, logger: context.logger)
    }

    /// The clock by which Apple's history is planned and fetched.
    private var appleNow: @Sendable () -> Date { { [context, apple] in context.clock.now(notAheadOf: apple.time) } }

    private func fetching() -> FetchService {
        let connection = connect()
        let fetch = WindowFetch(
            claims: WindowClaimStore(connection), coverage: CoverageStore(connection),
            client: { [apps] in apps.clients[$0] },
            producer: producerService.producer, partitioner: context.settings.partitioner,
            leaseSeconds: context.settings.windowLease.components.seconds,
            sweepDelay: context.settings.sweepPlan.delay,
            clocks: ClockCheck(connection: connection, now: context.clock.unmoved), now: appleNow,
            newId: newId, logger: context.logger)
        return FetchService(
            fetch: fetch, apps: { [apps] in apps.all }, width: context.settings.fetches, holder: newId(),
            liveness: context.health.livenessProbe("history fetch", limit: FetchService.turnLimit),
            logger: context.logger)
    }

    private func leasedJobs() -> [LeasedJob] {
        let settings = context.settings
        let connection = connect()
        let holder = newId()
        // A separate connection, so that a long statement does not delay the renewal of leases.
        let leasing = connect()
        let leases = LeaseStore(leasing)
        let clocks = ClockCheck(connection: leasing, now: context.clock.unmoved)
        let strict = ClockCheck(connection: leasing, now: context.clock.unmoved, comparingWith: apple.time)
        func batchJob(
            _ name: String, every interval: Duration, byEach: Bool = false, deletes: Bool = false,
            _ turn: @escaping @Sendable () async throws -> LeasedJob.Result
        ) -> LeasedJob {
            LeasedJob(
                name, every: interval, leases: byEach ? nil : leases, clocks: byEach ? nil : deletes ? strict : clocks,
                holder: holder, health: context.health, logger: context.logger, turn: turn)
        }
        func job(
            _ name: String, every interval: Duration, byEach: Bool = false, deletes: Bool = false,
            _ turn: @escaping @Sendable () async throws -> Void
        ) -> LeasedJob {
            batchJob(name, every: interval, byEach: byEach, deletes: deletes) {
                try await turn()
                return .complete
            }
        }
        let windows = RecoveryWindowStore(connection)
        let retentionJob = RetentionJob(
            windows: windows, canaries: CanaryStore(connection), overdue: OverdueStore(connection),
            heartbeats: HeartbeatStore(connection), usage: UsageReportStore(connection),
            comparisons: ComparisonStore(connection),
            retention: RetentionStore(connection),
            policy: RetentionPolicy(ledgerDays: settings.ledgerDays, seenDays: settings.seenDays),
            now: context.clock.now, logger: context.logger)
        let interval = min(.seconds(15), settings.failuresInterval)
        var jobs = [
            job("plan", every: interval) { [apps, context, newId, appleNow] in
                apps.warnOfMissingKeys()
                try await CoveragePlanner(
                    coverage: CoverageStore(connection), windows: windows, heartbeats: HeartbeatStore(connection),
                    apps: apps.all, failures: settings.failuresPlan, sweep: settings.sweepPlan,
                    reach: settings.coverageReach.inSeconds, now: appleNow, newId: newId, logger: context.logger
                ).turn()
            },
            job("report", every: interval, byEach: true) { [apps, context] in
                for app in apps.retired() {
                    CoverageMetrics.end(app)
                    RefundMetrics.end(app)
                }
                try await CoverageMetrics(
                    coverage: CoverageStore(connection), apps: apps.accepted, now: context.clock.now
                ).turn()
                try await RefundMetrics(
                    store: RefundStatusStore(connection), apps: apps.accepted, now: context.clock.now
                ).turn()
                try await FigureMetrics(store: FigureStore(connection), now: context.clock.now).turn()
            },
            // A connection of its own: an answer has twelve hours, and a retention run may take long.
            job("refunds", every: .seconds(2)) { [apps, context, refunds = connect()] in
                try await RefundJob(
                    store: RefundDecisionStore(refunds), clients: apps.clients, now: context.clock.now,
                    logger: context.logger
                ).turn()
            },
            batchJob(
                "figures", every: .seconds(10),
                FigureJob(store: FigureStore(connect(), reading: connect()), now: context.clock.now).turn),
            // A connection of its own: a check reads every paid period.
            job("figure-check", every: .seconds(600)) { [context, random, checked = connectPatiently()] in
                try await FigureCheckJob(
                    store: FigureStore(checked), check: FigureCheck(checked), now: context.clock.now,
                    daysAgo: { 1 + Int(random() * 363) }, logger: context.logger
                ).turn()
            },
            job("retention", every: .seconds(3600), deletes: true, retentionJob.turn),
        ]
        if settings.canaryInterval > .zero {
            let watch = CanaryJob(
                canaries: CanaryStore(connection), windows: windows,
                clients: { [apps] in apps.clients }, followed: settings.followed,
                interval: settings.canaryInterval.inSeconds, patience: settings.canaryPatience.inSeconds,
                now: context.clock.now, newId: newId, logger: context.logger)
            jobs.append(job("canary", every: .seconds(10), watch.turn))
        }
        if settings.overdueBudget > 0 {
            jobs.append(
                job("overdue", every: .seconds(60)) { [apps, context, producer = producerService.producer] in
                    try await OverdueJob(
                        store: OverdueStore(connection), apps: apps.all, producer: producer,
                        patience: settings.overdueAfter.inSeconds, foresight: settings.overdueForesight.inSeconds,
                        budget: settings.overdueBudget, now: context.clock.now, logger: context.logger
                    ).turn()
                })
        }
        return jobs
    }
}
