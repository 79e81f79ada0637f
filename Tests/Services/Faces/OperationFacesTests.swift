import Contracts
import Foundation
import Operations
import Postgres
import Storage
import StrictJSON
import Subscriptions
import TestSupport
import Testing

@testable import APITests
@testable import ConsoleTests
@testable import StorekeeperTests

/// Walks all operations through the API, the console and the command line: each says the same before, does the same, and writes the
/// same rows of the audit log.
@Suite(.hangLimit) struct OperationFacesTests {
    static let account = SampleContents.account
    static let app = SampleContents.app
    static let purchase = SampleContents.purchase

    /// How a face is asked for an operation; nil where the face has it not.
    struct Steps: Sendable, CustomTestStringConvertible {
        var operation: String
        /// Method, path and body.
        var api: (method: String, path: String, body: String?)?
        /// Path and fields of the form.
        var console: (path: String, fields: [String: String])?
        var commandLine: [String]?
        /// Whether the faces show a plan in the same words; recovery and an erasure show tables.
        var isPlanned = true
        /// Whether the operation needs a grant first.
        var needsGrant = false
        /// Whether it needs a refund request that is open.
        var needsRefund = false

        var testDescription: String { operation }
    }

    private static let place = ["--app", app, "--environment", "Production"]
    private static let accountPath = "/accounts/Production/\(account)"
    private static let purchasePath = "/purchases/Production/\(purchase)"

    static let all: [Steps] = [
        Steps(
            operation: "customers grant",
            api: (
                "POST", "/v1/customers/user-1/grants",
                #"{"productId":"pro.monthly","reason":"ticket 812","endsAt":\#(RunningConsole.now.milliseconds + 604_800_000)}"#
            ),
            console: (
                "\(accountPath)/grants",
                ["app": app, "product": "pro.monthly", "days": "7", "reason": "ticket 812"]
            ),
            commandLine: ["customers", "grant", account, "pro.monthly", "--days", "7", "--reason", "ticket 812"] + place
        ),
        Steps(
            operation: "customers revoke", api: ("DELETE", "/v1/customers/user-1/grants/GRANT", nil),
            console: ("\(accountPath)/grants/GRANT/revoke", ["reason": "ticket 812"]),
            commandLine: ["customers", "revoke", "user-1", "GRANT", "--note", "ticket 812"] + place, needsGrant: true),
        Steps(
            operation: "customers choose", console: ("\(accountPath)/choose", ["app": app, "reason": "ticket 812"]),
            commandLine: ["customers", "choose", account, "--note", "ticket 812"] + place),
        Steps(
            operation: "refresh", api: ("POST", "/v1/subscriptions/\(purchase)/refresh", nil),
            console: ("\(purchasePath)/refresh", ["reason": "ticket 812"])),
        Steps(
            operation: "recover",
            console: (
                "/coverage/recover",
                [
                    "app": app, "environment": "Production", "from": "2025-12-01", "to": "2025-12-02",
                    "reason": "ticket 812",
                ]
            ),
            commandLine: ["recover", "--from", "2025-12-01", "--to", "2025-12-02", "--no-wait", "--note", "ticket 812"]
                + place, isPlanned: false),
        Steps(
            operation: "console end", console: ("/sessions/end", ["name": "bob", "reason": "ticket 812"]),
            commandLine: ["console", "end", "bob", "--note", "ticket 812"], isPlanned: false),
        Steps(
            operation: "customers erase", api: ("POST", "/v1/customers/user-1/erasure", #"{"extent":"erase"}"#),
            console: ("\(accountPath)/erasure", ["extent": "erase", "app": app, "reason": "ticket 812"]),
            commandLine: ["customers", "erase", "user-1", "--note", "ticket 812"] + place, isPlanned: false),
        Steps(
            operation: "refunds answer",
            console: (
                "/refunds/Production/\(purchase)/answer", ["preference": "GRANT_FULL", "reason": "ticket 812"]
            ),
            commandLine: [
                "refunds", "answer", purchase, "--preference", "GRANT_FULL", "--note", "ticket 812",
            ], needsRefund: true),
    ]

    /// What a face said and did.
    struct Outcome: Equatable {
        var face: String
        /// Nil where it shows its plan in another form.
        var plan: [String]?
        /// Operation, subject, app, account, customer, reason where a face gives one, outcome; without random ids.
        var rows: [String]
        /// What the account may use afterwards, its windows, requests and sessions.
        var effect: [String]
    }

    @Test(arguments: all)
    func `Every face plans an operation alike, does the same, and writes the same rows of the audit log`(
        steps: Steps
    ) async throws {
        var outcomes: [Outcome] = []
        if let api = steps.api { outcomes.append(try await Self.ask(api, steps)) }
        if let console = steps.console { outcomes.append(try await Self.ask(console, steps)) }
        if let arguments = steps.commandLine { outcomes.append(try await Self.ask(arguments, steps)) }
        let first = try #require(outcomes.first)
        #expect(outcomes.count > 1 && !first.rows.isEmpty)
        #expect(first.rows.allSatisfy { $0.hasPrefix(steps.operation) }, "\(first.rows)")
        for other in outcomes.dropFirst() {
            #expect(other.rows == first.rows, "\(other.face) and \(first.face)")
            #expect(other.effect == first.effect, "\(other.face) and \(first.face)")
            #expect(other.plan == first.plan, "\(other.face) and \(first.face)")
        }
    }

    // MARK: The faces

    private static func ask(
        _ request: (method: String, path: String, body: String?), _ steps: Steps
    ) async throws -> Outcome {
        try await RunningAPI.with { api in
            let connection = TestDatabase.connection(api.database)
            let grant = try await prepare(connection, steps)
            let key = try await api.key(environment: .production, bundleIds: [app])
            func send(_ query: String) async throws -> RunningAPI.Answer {
                try await api.send(
                    request.method, request.path.replacing("GRANT", with: grant) + query, key: key,
                    body: request.body.map { Array($0.utf8) })
            }
            let dry = try await send("?dryRun=true")
            #expect(dry.status == 200, "\(String(decoding: dry.body, as: UTF8.self))")
            #expect(try await rows(connection).isEmpty, "a dry run writes nothing")
            let done = try await send("")
            #expect((200..<300).contains(done.status), "\(String(decoding: done.body, as: UTF8.self))")
            let plan = dry.json?["effects"]?.elements.compactMap(\.string) ?? []
            return try await outcome("API", steps.isPlanned ? plan : nil, connection)
        }
    }

    private static func ask(
        _ form: (path: String, fields: [String: String]), _ steps: Steps
    ) async throws -> Outcome {
        try await RunningConsole.with { console in
            let connection = TestDatabase.connection(console.database)
            let grant = try await prepare(connection, steps)
            let cookie = try await console.signedIn(role: "admin")
            let token = try #require(try await console.get("/", cookie: cookie).field("token"))
            try await connection.run(unsafeScript: "delete from operator_action")
            func send(_ more: [String: String]) async throws -> RunningConsole.Answer {
                try await console.post(
                    form.path.replacing("GRANT", with: grant), cookie: cookie,
                    form.fields.merging(["token": token]) { $1 }.merging(more) { $1 })
            }
            var plan: [String]?
            if steps.isPlanned {
                let dry = try await send(["step": "plan"])
                #expect(dry.status == 200, "\(dry.text)")
                let list = dry.text.components(separatedBy: "<h1>What would happen</h1>").last ?? ""
                plan = list.components(separatedBy: "<li>").dropFirst().compactMap {
                    $0.components(separatedBy: "</li>").first?.replacing("&#39;", with: "'")
                        .replacing("&quot;", with: "\"")
                }
                #expect(try await rows(connection).isEmpty, "a dry run writes nothing")
            }
            let done = try await send([:])
            #expect(done.status == 303, "\(done.text)")
            return try await outcome("console", plan, connection)
        }
    }

    private static func ask(_ arguments: [String], _ steps: Steps) async throws -> Outcome {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            let grant = try await prepare(connection, steps)
            func run(_ more: String...) async -> CommandOutcome {
                await CommandOutcome.of(
                    arguments.map { $0 == "GRANT" ? grant : $0 } + more, environment: database.environment,
                    now: RunningConsole.now)
            }
            var plan: [String]?
            if steps.isPlanned {
                let dry = await run("--dry-run")
                #expect(dry.code == 0, "\(dry.errorOutput)")
                plan = dry.text.split(separator: "\n").map(String.init)
                #expect(try await rows(connection).isEmpty, "a dry run writes nothing")
            }
            let done = await run()
            #expect(done.code == 0, "\(done.errorOutput)")
            return try await outcome("command line", plan, connection)
        }
    }

    // MARK: What they work on

    /// - Returns: the id of the grant, where one is needed.
    private static func prepare(_ connection: PostgresConnection, _ steps: Steps) async throws -> String {
        let contents = SampleContents(connection: connection)
        _ = try await contents.notification("SUBSCRIBED", "INITIAL_BUY", purchase: purchase, from: -100, to: 864_000)
        if steps.needsRefund { try await contents.refund() }
        let (token, now) = (try #require(UUID(uuidString: account)), RunningConsole.now)
        _ = try await CustomerRecords(connection).put(
            CustomerRecords.Customer(
                id: "user-1", environment: .production, bundleId: app, appAccountToken: token, createdAt: now),
            isTokenGiven: true)
        try await CoverageStore(connection).begin(.production, app, at: now, sweepingFrom: now)
        let bob = ConsoleLink(random: Array(repeating: 9, count: 32))
        try await ConsoleSessions(connection).addLink(
            bob.digest, for: ConsoleSessions.Person(name: "bob", role: "viewer"), from: now,
            until: now.addingTimeInterval(300),
            audit: OperatorAction(
                actedAt: now, actor: "root", operation: "console login", subject: "bob", reason: nil))
        let grant = CustomerRecords.ManualGrant(
            id: UUID(), environment: .production, bundleId: app, appAccountToken: token, productId: "pro.yearly",
            reason: "earlier", startsAt: now, endsAt: nil, createdAt: now,
            createdBy: CustomerRecords.ManualGrant.byOperator)
        if steps.needsGrant { _ = try await connection.pipeline([CustomerRecords.command(adding: grant)]) }
        try await connection.run(unsafeScript: "delete from operator_action")
        return grant.id.uuidString.lowercased()
    }

    private static func rows(_ connection: PostgresConnection) async throws -> [String] {
        try await OperatorActionStore(connection).newest(10).map { action in
            let about = action.about
            let place = [about?.environment.rawValue, about?.bundleId, about?.customerId].compactMap { $0 }
            return plain(
                "\(action.operation)|\(action.subject)|\(place)|\(about?.appAccountToken?.uuidString ?? "")|\(action.outcome)"
            )
        }
    }

    private static func outcome(
        _ face: String, _ plan: [String]?, _ connection: PostgresConnection
    ) async throws -> Outcome {
        let token = try #require(UUID(uuidString: account))
        let view = try await AccountView(of: token, in: .production, at: RunningConsole.now, on: connection)
        let counts = try await connection.execute(
            unsafeSQL: """
                select (select count(*) from recovery_window) || ' windows, '
                    || (select count(*) from recovery_request) || ' requests, '
                    || (select count(*) from console_login where name = 'bob' and used_at is null) || ' links, '
                    || (select count(*) from chosen_account) || ' choices, '
                    || coalesce((select string_agg(body, ',') from refund_answer), 'no') || ' answers, '
                    || (select count(*) from manual_grant where revoked_at is not null) || ' revoked' as counts
                """)
        let outcome = Outcome(
            face: face, plan: plan?.map(plain), rows: try await rows(connection),
            effect: view.access.entitlements.map { "\($0.name) until \($0.line.until?.text ?? "-")" }.sorted()
                + [try counts[0].value("counts")])
        await connection.close()
        return outcome
    }

    /// Without ids that differ from face to face.
    private static func plain(_ text: String) -> String {
        text.replacing(/[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}/) { match in
            match.output.lowercased() == account ? account : "ID"
        }
    }
}
