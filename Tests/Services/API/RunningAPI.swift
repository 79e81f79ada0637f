import AppStore
import AsyncHTTPClient
import Chassis
import Contracts
import Foundation
import Hummingbird
import NIOCore
import Operations
import Postgres
import Storage
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import API

/// The real server on a free port before a database of its own.
struct RunningAPI: Sendable {
    /// What came back.
    struct Answer: Sendable {
        var status: Int
        var headers: [String: String]
        var body: [UInt8]

        var json: JSONValue? { (try? JSONDocument(body))?.root }
        /// Of a problem document, its last part.
        var problem: String? {
            guard headers["content-type"] == "application/problem+json" else { return nil }
            return json?["type"]?.string?.split(separator: ":").last.map(String.init)
        }
    }

    let port: Int
    let database: PostgresConfiguration
    let keys: KeyTable
    let horizon: EventHorizon
    let document: APIDocument
    let clock: ManualClock
    let looks: Looks
    let budgets: KeyBudgets
    let lane: WorkLane
    private let client: HTTPClient

    /// - Parameters:
    ///   - quota: requests a minute.
    ///   - uploads: by default for no app, without Kafka.
    ///   - certificate: by default a proxy ends TLS.
    static func with<Result: Sendable>(
        quota: Int = 100_000, limits: KeyLimits = KeyLimits(), connections: Int = 100,
        bodyTimeout: Duration = .hangLimit,
        uploads: UploadServices = .unavailable, certificate: ServerCertificate? = nil,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (RunningAPI) async throws -> Result
    ) async throws -> Result {
        try await TestDatabase.use { configuration in
            let logger = Logger.quiet
            let clock = ManualClock()
            let processClock = ProcessClock(now: { clock.now }, instant: { clock.instant })
            let document = try APIDocument.embedded()
            let database = Database((0..<2).map { _ in TestDatabase.connection(configuration) })
            let keys = KeyTable(
                store: ClientKeyStore(TestDatabase.connection(configuration)), clock: processClock,
                isRead: Health(instant: { .now }).readinessCheck("keys"), logger: logger)
            let horizon = EventHorizon(database: database, instant: { .now }, logger: logger)
            let definitions = DefinitionTable(
                database: database, isRead: Health(instant: { .now }).readinessCheck("definitions"), logger: logger)
            let looks = Looks()
            let budgets = KeyBudgets(limits: limits)
            let dependencies = Dependencies(
                document: document, database: database, keys: keys, budgets: budgets, horizon: horizon,
                definitions: definitions,
                cursor: Cursor { keys.cursorSecret }, uploads: uploads, clock: processClock,
                newId: { UUID() },
                sleep: { _ in try await looks.look() }, logger: logger)
            let service = APIService(
                router: try Router(document.operations, handlers: Handlers.all(dependencies)),
                parser: RequestParser(check: document.check, timeout: bodyTimeout), keys: keys,
                limiter: RateLimiter(quota: quota), budgets: budgets, lane: uploads.lane,
                idempotency: Idempotency(database: database, clock: processClock, logger: logger),
                tracer: Tracer(isOn: false, random: { 7 }), clock: processClock, logger: logger)
            let (ports, signal) = AsyncStream.makeStream(of: Int.self)
            let server = APIServer(
                address: ListenAddress(host: "127.0.0.1", port: 0), idleTimeout: .seconds(60),
                connections: ConnectionTable(
                    limit: connections, patience: (.seconds(60), .seconds(60)), instant: { .now }),
                service: service, certificate: certificate, logger: logger, onListening: { signal.yield($0) })
            var options = HTTPClient.Configuration()
            // Many requests at once wait for one of its few connections, on a busy machine for longer than the 10 s of its default.
            options.timeout.connect = .minutes(10)
            let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: options)
            let outcome: Swift.Result<Result, any Error>
            do {
                outcome = .success(
                    try await whileRunning([server], logger: logger) {
                        let port = try #require(await ports.first { _ in true })
                        try await keys.turn()
                        try await Self.decide(horizon, configuration)
                        return try await body(
                            RunningAPI(
                                port: port, database: configuration, keys: keys, horizon: horizon, document: document,
                                clock: clock, looks: looks, budgets: budgets,
                                lane: uploads.lane, client: client))
                    })
            } catch {
                outcome = .failure(error)
            }
            try await client.shutdown()
            await database.close()
            return try outcome.get()
        }
    }

    /// Lets seconds pass; the keys are read again.
    func pass(_ seconds: Double = 1) async throws {
        clock.advance(by: seconds)
        try await keys.turn()
    }

    /// A key that is accepted at once.
    func key(
        environment: StoreEnvironment = .sandbox, scopes: Set<APIScope> = Set(APIScope.allCases),
        bundleIds: [String] = [], expiresAt: Date? = nil
    ) async throws -> String {
        let secret = ClientKeySecret(environment: environment, random: (0..<32).map { _ in .random(in: 0...255) })
        let connection = TestDatabase.connection(database)
        try await ClientKeyStore(connection).add(
            ClientKey(
                id: UUID(), name: "test", environment: environment, scopes: scopes, bundleIds: bundleIds,
                digest: secret.digest, createdAt: clock.now, expiresAt: expiresAt))
        await connection.close()
        try await keys.turn()
        return secret.text
    }

    /// Of a key, by its text.
    func id(of key: String) async throws -> UUID? {
        let connection = TestDatabase.connection(database)
        let active = try await ClientKeyStore(connection).active().keys
        await connection.close()
        return active.first { $0.digest == ClientKeySecret(key)?.digest }?.id
    }

    /// - Parameters:
    ///   - path: with its query, as it goes over the wire.
    ///   - key: nil sends none.
    func send(
        _ method: String, _ path: String, key: String?, headers: [String: String] = [:], body: [UInt8]? = nil
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        request.method = .RAW(value: method)
        if let key { request.headers.add(name: "Authorization", value: "Bearer \(key)") }
        if body != nil, headers["Content-Type"] == nil {
            request.headers.add(name: "Content-Type", value: "application/json")
        }
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await client.execute(request, timeout: .minutes(10))
        let bytes = try await response.body.collect(upTo: 64 << 20)
        return Answer(
            status: Int(response.status.code),
            headers: Dictionary(response.headers.map { ($0.name.lowercased(), $0.value) }) { first, _ in first },
            body: Array(bytes.readableBytesView))
    }

    /// Waits until every event that is committed may be told: other tests use the same server, and their transactions hold
    /// the feed back.
    func eventsAreDecided() async throws { try await Self.decide(horizon, database) }

    private static func decide(_ horizon: EventHorizon, _ database: PostgresConfiguration) async throws {
        let connection = TestDatabase.connection(database)
        let greatest = try await EventFeed(connection).reading().greatest
        let deadline = ContinuousClock.now + .hangLimit
        repeat { try await horizon.turn() } while (try? horizon.id()) ?? -1 < greatest && ContinuousClock.now < deadline
        await connection.close()
    }

    func get(_ path: String, key: String?, headers: [String: String] = [:]) async throws -> Answer {
        try await send("GET", path, key: key, headers: headers)
    }

    func send(_ method: String, _ path: String, key: String?, json: String) async throws -> Answer {
        try await send(method, path, key: key, body: Array(json.utf8))
    }
}

/// What happens while a request waits for its next look; nothing unless a test says so.
actor Looks {
    private var waiting: (@Sendable () async throws -> Void)?

    /// Before each look of a waiting request.
    func before(_ action: @escaping @Sendable () async throws -> Void) { waiting = action }

    func look() async throws {
        try await waiting?()
        await Task.yield()
    }
}

extension UploadServices {
    /// Of no app, and Kafka is away.
    static let unavailable = UploadServices(
        verifier: { SignedDataVerifier(trust: .apple, apps: AppRegistry(apps: [])) },
        record: { _ in throw Problem(.unavailable, "Kafka is away.") }, apple: nil,
        rejections: RateLimiter(quota: 1000), questions: QuestionBudget(quota: 1000))
}
