import AsyncHTTPClient
import Chassis
import Contracts
import Foundation
import Hummingbird
import Kafka
import NIOCore
import Operations
import Postgres
import ServerAPI
import Signatures
import Storage
import TestSupport
import Testing

@testable import Console

/// The real server on a free port before a database of its own.
struct RunningConsole: Sendable {
    /// What came back.
    struct Answer: Sendable {
        var status: Int
        var headers: [(String, String)]
        var text: String

        func header(_ name: String) -> String? { headers.first { $0.0 == name }?.1 }
        /// The first value of a field of a form.
        func field(_ name: String) -> String? {
            text.components(separatedBy: "name=\"\(name)\" value=\"").dropFirst().first?.components(separatedBy: "\"")
                .first
        }
    }

    static let now = Date(timeIntervalSince1970: 1_765_000_000)
    static let origin = "http://127.0.0.1:1"

    let port: Int
    let database: PostgresConfiguration
    let templates: Templates
    private let client: HTTPClient

    static func with<Value>(
        proxies: Set<String> = [], provider: ProviderSettings? = nil, apple: APIClients? = nil,
        questions: Int = 100_000, instant: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        bodyTimeout: Duration = .seconds(15), connections: Int = 512, isolation: isolated (any Actor)? = #isolation,
        _ body: (RunningConsole) async throws -> Value
    ) async throws -> Value {
        try await TestDatabase.use { configuration in
            let owner = TestDatabase.connection(configuration)
            _ = try await Grants(owner).apply()
            await owner.close()
            // As the service's own role: what it may not do fails here.
            var own = configuration
            own.url += "?options=-crole%3Dstorekeeper_console"
            let logger = Logger.quiet
            let clock = ProcessClock(now: { Self.now }, instant: instant)
            let pool = ConnectionPool((0..<2).map { _ in TestDatabase.connection(own) })
            let tokens = FormTokens(
                database: pool, session: .seconds(3600), isRead: Health(instant: { .now }).readinessCheck("secret"),
                logger: logger)
            try await tokens.read()
            let templates = try Templates()
            let kafka = KafkaConfiguration(bootstrapServers: "127.0.0.1:1", overrides: [:])
            let console = Console(
                database: pool, erasureDatabase: pool, templates: templates, tokens: tokens,
                origin: try #require(Origin(Self.origin)), session: .seconds(3600), provider: provider,
                status: StatusWatch(
                    reader: StatusReader(database: own, kafka: kafka, sample: 10), interval: .seconds(3600),
                    clock: clock),
                insight: InsightReports(database: pool, patience: .seconds(60), now: clock.now),
                trust: { .apple }, apple: apple, questions: QuestionBudget(quota: questions), clock: clock,
                newId: { UUID() },
                newSecret: {
                    var text: [UInt8] = []
                    text += Base64.encode((0..<32).map { _ in UInt8.random(in: 0...255) }[...], .url)
                    return String(decoding: text, as: UTF8.self)
                },
                sleep: { _ in throw CancellationError() }, logger: logger)
            let responder = Responder(
                console: console, router: Router(routes: Routes.all(console)),
                authenticator: Authenticator(
                    proxies: proxies, userHeader: try #require(HTTPField.Name("X-Forwarded-User")),
                    proxyRoles: ["ann": .operatorRole], database: pool),
                bodyTimeout: bodyTimeout)
            let (ports, signal) = AsyncStream.makeStream(of: Int.self)
            let server = ConsoleServer(
                address: ListenAddress(host: "127.0.0.1", port: 0),
                connections: ConnectionTable(
                    limit: connections, patience: (.seconds(60), .seconds(60)), instant: { .now }),
                responder: responder, logger: logger,
                onListening: { signal.yield($0) })
            var options = HTTPClient.Configuration()
            options.redirectConfiguration = .disallow
            // As in the tests of the API: a request waits for a connection as long as a busy machine needs.
            options.timeout.connect = .minutes(10)
            let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: options)
            let outcome: Result<Value, any Error>
            do {
                outcome = .success(
                    try await whileRunning([server], logger: logger) {
                        let port = try #require(await ports.first { _ in true })
                        return try await body(
                            RunningConsole(port: port, database: configuration, templates: templates, client: client))
                    })
            } catch {
                outcome = .failure(error)
            }
            try await client.shutdown()
            await pool.close()
            return try outcome.get()
        }
    }

    func send(
        _ method: String, _ path: String, cookie: String? = nil, headers: [String: String] = [:], body: String? = nil
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        request.method = .RAW(value: method)
        if let cookie { request.headers.add(name: "Cookie", value: "\(Authenticator.cookie)=\(cookie)") }
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body {
            request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            request.body = .bytes(ByteBuffer(string: body))
        }
        let response = try await client.execute(request, timeout: .minutes(10))
        let bytes = try await response.body.collect(upTo: 16 << 20)
        return Answer(
            status: Int(response.status.code), headers: response.headers.map { ($0.name.lowercased(), $0.value) },
            text: String(buffer: bytes))
    }

    func get(_ path: String, cookie: String? = nil) async throws -> Answer {
        try await send("GET", path, cookie: cookie)
    }

    /// Sends a form as the browser sends one of our pages.
    func post(_ path: String, cookie: String?, _ fields: [String: String]) async throws -> Answer {
        try await send(
            "POST", path, cookie: cookie, headers: ["Sec-Fetch-Site": "same-origin"], body: Self.form(fields))
    }

    static func form(_ fields: [String: String]) -> String {
        fields.map { "\($0.key)=\(FormFields.encode($0.value))" }.joined(separator: "&")
    }

    /// A link as `storekeeper console login` makes it.
    func link(as name: String = "ann", role: String, madeAt: Date = Self.now) async throws -> String {
        let link = ConsoleLink(random: (0..<32).map { _ in .random(in: 0...255) })
        try await withOwner { connection in
            try await ConsoleSessions(connection).addLink(
                link.digest, for: ConsoleSessions.Person(name: name, role: role), from: madeAt,
                until: madeAt.addingTimeInterval(ConsoleLink.validity),
                audit: OperatorAction(
                    actedAt: madeAt, actor: "root", operation: "console login", subject: name, reason: nil))
        }
        return String(try #require(link.address(at: "").split(separator: "=").last))
    }

    /// The cookie of a person who signed in.
    func signedIn(as name: String = "ann", role: String) async throws -> String {
        let answer = try await post("/sign-in", cookie: nil, ["link": try await link(as: name, role: role)])
        #expect(answer.status == 303)
        let cookie = try #require(answer.header("set-cookie"))
        return String(try #require(cookie.split(separator: ";")[0].split(separator: "=").last))
    }

    func withOwner<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        let connection = TestDatabase.connection(database)
        let value = try await body(connection)
        await connection.close()
        return value
    }
}
