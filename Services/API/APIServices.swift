import Bootstrap
import Chassis
import Operations
import Postgres
import Storage

import struct Foundation.UUID

/// The parts of the process, put together.
struct APIServices: Sendable {
    let keys: KeyTable
    let server: APIServer
    private let certificate: ServerCertificate?
    let readiness: SchemaReadiness
    let housekeeping: Housekeeping
    let horizon: EventHorizon
    let definitions: DefinitionTable
    private let uploads: UploadAccess

    init(_ context: ServiceContext<Configuration>) throws {
        let settings = context.settings
        let configuration = settings.postgres(for: "api", plansOnce: true)
        func connection() -> PostgresConnection {
            PostgresConnection(configuration, logger: context.logger)
        }
        let document = try APIDocument.embedded()
        let database = Database((0..<settings.databaseConnections).map { _ in connection() })
        // A connection of its own: a revocation never waits behind requests.
        let keys = KeyTable(
            store: ClientKeyStore(connection()), clock: context.clock,
            isRead: context.health.readinessCheck("keys", waitingFor: "the first reading of the API keys"),
            logger: context.logger)
        let limits = Configuration.limits(settings)
        let budgets = KeyBudgets(limits: limits)
        let lane = WorkLane(seconds: limits.verification, instant: context.clock.instant)
        uploads = try UploadAccess(context, lane: lane)
        horizon = EventHorizon(database: database, instant: context.clock.instant, logger: context.logger)
        definitions = DefinitionTable(
            database: database,
            isRead: context.health.readinessCheck("definitions", waitingFor: "the entitlement definitions"),
            logger: context.logger)
        let dependencies = Dependencies(
            document: document, database: database, keys: keys, budgets: budgets, horizon: horizon,
            definitions: definitions,
            cursor: Cursor { keys.cursorSecret }, uploads: uploads.services, clock: context.clock,
            newId: { UUID() },
            sleep: { try await Task.sleep(for: $0) }, logger: context.logger)
        self.keys = keys
        let service = APIService(
            router: try Router(document.operations, handlers: Handlers.all(dependencies)),
            parser: RequestParser(check: document.check, timeout: settings.readTimeout), keys: keys,
            limiter: RateLimiter(quota: settings.rateLimit), budgets: budgets, lane: lane,
            idempotency: Idempotency(database: database, clock: context.clock, logger: context.logger),
            tracer: context.tracer, clock: context.clock, logger: context.logger)
        certificate = try settings.tlsCertificate.flatMap { certificate in
            try settings.tlsKey.map { key in
                try ServerCertificate(certificate: certificate, key: key, logger: context.logger)
            }
        }
        server = APIServer(
            address: settings.address, idleTimeout: settings.idleTimeout,
            connections: ConnectionTable(
                limit: settings.maximumConnections, patience: (settings.readTimeout, settings.idleTimeout),
                instant: context.clock.instant), service: service, certificate: certificate,
            logger: context.logger,
            onListening: { PortFile.write($0, to: settings.portFile, logger: context.logger) })
        readiness = SchemaReadiness(context, service: "api")
        housekeeping = Housekeeping(database: database, clock: context.clock, logger: context.logger)
    }

    /// In the order of their dependencies; stopped backwards.
    var all: [any Service] {
        uploads.all + (certificate.map { [$0] } ?? [])
            + [readiness, keys, housekeeping, horizon, definitions, server]
    }
}
