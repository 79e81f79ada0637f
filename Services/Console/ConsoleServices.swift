import Bootstrap
import Chassis
import Contracts
import Hummingbird
import Kafka
import Operations
import Pipeline
import Postgres
import ServerAPI
import Signatures
import Storage

import struct Foundation.UUID

/// The parts of the process, put together.
struct ConsoleServices: Sendable {
    /// In the order of their dependencies; stopped backwards.
    let all: [any Service]

    init(_ context: ServiceContext<Configuration>) async throws {
        let settings = context.settings
        var configuration = settings.postgres(for: "console")
        configuration.statementTimeout = settings.queryTimeout
        let database = ConnectionPool(
            (0..<settings.databaseConnections).map { _ in
                PostgresConnection(configuration, logger: context.logger)
            })
        let kafka = try settings.kafka()
        let producer = try ProducerService(kafka, for: .console, of: Topics.plan, logger: context.logger)
        let watcher = try settings.apps.map { apps in
            try TrustWatcher(
                apps: apps, roots: settings.roots ?? [], developmentMode: settings.developmentMode,
                logger: context.logger)
        }
        var apple: AppleAPI?
        if let watcher, let keys = settings.apiKeys {
            let clock = APIClock(now: context.clock.now, random: { .random(in: 0..<1) })
            apple = try AppleAPI(
                watcher, keys: keys, url: settings.apiURL, developmentMode: settings.developmentMode, clock: clock,
                limits: SharedAPILimits.each(
                    PostgresConnection(configuration, logger: context.logger), share: settings.apiLimitShare,
                    urgency: .interactive, clock: clock, logger: context.logger))
        }
        let readiness = SchemaReadiness(context, service: "console")
        let status = StatusWatch(
            reader: StatusReader(
                database: settings.postgres(for: "console"), kafka: kafka, sample: 1000, limit: .seconds(10)),
            interval: settings.statusInterval, clock: context.clock)
        let replays = ReplayService(
            database: database, kafka: kafka, producer: producer.producer,
            seal: try RecordSeal(file: settings.recordKeys), clock: context.clock, logger: context.logger)
        let tokens = FormTokens(
            database: database, session: settings.session,
            isRead: context.health.readinessCheck("secret", waitingFor: "the secret of the forms"),
            logger: context.logger)
        // A report of a month, or an erasure, may take longer than a page does. No erasure waits for a report.
        configuration.statementTimeout = .seconds(60)
        let (erasures, reports) = (
            ConnectionPool([PostgresConnection(configuration, logger: context.logger)]),
            ConnectionPool([PostgresConnection(configuration, logger: context.logger)])
        )
        let insight = InsightReports(
            database: reports,
            patience: .milliseconds(50), now: context.clock.now)
        let provider = try ProviderSettings(settings, now: context.clock.now)
        let console = Console(
            database: database, erasureDatabase: erasures, templates: try Templates(), tokens: tokens,
            origin: settings.origin,
            session: settings.session, provider: provider, status: status, insight: insight,
            trust: { watcher?.trusted.settings.trust ?? .apple },
            apple: apple?.clients, questions: QuestionBudget(share: settings.apiLimitShare),
            clock: context.clock, newId: { UUID() }, newSecret: Self.secret,
            sleep: { try await Task.sleep(for: $0) }, logger: context.logger)
        guard let userHeader = HTTPField.Name(settings.userHeader) else {
            throw ConfigurationProblems([
                .unusable(name: "STOREKEEPER_CONSOLE_USER_HEADER", reason: "is no name of a header")
            ])
        }
        let responder = Responder(
            console: console, router: Router(routes: Routes.all(console)),
            authenticator: Authenticator(
                proxies: Set(settings.proxies ?? []), userHeader: userHeader, proxyRoles: settings.proxyRoles,
                database: database))
        let server = ConsoleServer(
            address: settings.address,
            // A person who is signed in may read a long file slowly.
            connections: ConnectionTable(
                limit: 512, patience: (.seconds(15), .seconds(600)), instant: context.clock.instant),
            responder: responder, logger: context.logger,
            onListening: { PortFile.write($0, to: settings.portFile, logger: context.logger) })
        all =
            (apple.map { [$0] } ?? []) + (watcher.map { [$0] } ?? []) + [
                readiness, producer,
                WarmUp(producer: producer.producer) { [logger = context.logger] error in
                    logger.warning("Kafka unavailable; replays wait and retry", metadata: ["error": "\(error)"])
                },
                tokens, status, replays, ProviderConnections(provider: provider?.provider),
                Housekeeping(database: database, clock: context.clock, logger: context.logger), server,
            ]
    }

    /// 256 random bits.
    @Sendable private static func secret() -> String {
        var text: [UInt8] = []
        text += Base64.encode((0..<32).map { _ in UInt8.random(in: .min ... .max) }[...], .url)
        return String(decoding: text, as: UTF8.self)
    }
}
