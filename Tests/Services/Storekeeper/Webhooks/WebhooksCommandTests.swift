import Foundation
import Storage
import TestSupport
import Testing
import WebhookDelivery

@testable import Storekeeper

@Suite(.serialized) struct WebhooksCommandTests {
    struct Secret: Decodable {
        var endpoint: String
        var secret: String
        var generation: Int
    }

    struct Row: Decodable {
        var id: String
        var kind: String
        var state: String
        var url: String
        var apps: [String]
        var events: [String]
        var isOrdered: Bool
        var waiting: Int
    }

    /// A database and the environment of an operator with the key.
    private static func with(_ body: ([String: String], WebhookEndpointStore) async throws -> Void) async throws {
        try await TestDatabase.use { database in
            let directory = try TemporaryDirectory()
            let key = directory.path + "/webhook-key"
            try Data("0123456789abcdef0123456789abcdef\n".utf8).write(to: URL(filePath: key))
            let connection = TestDatabase.connection(database)
            try await body(
                database.environment.merging(["STOREKEEPER_WEBHOOK_KEY_FILE": key]) { $1 },
                WebhookEndpointStore(connection))
            await connection.close()
            withExtendedLifetime(directory) {}
        }
    }

    private static func create(
        _ environment: [String: String], _ more: String...
    ) async throws -> Secret {
        try await CommandOutcome.of(
            ["webhooks", "create", "--environment", "Production", "--url", "https://Example.com/hook", "--json"] + more,
            environment: environment
        ).json()
    }

    @Test func `webhooks create prints the derived secret, and secret and rotate print it again and the next one`()
        async throws
    {
        try await Self.with { environment, store in
            let created = try await Self.create(
                environment, "--event", "DID_RENEW", "--app", "com.example.app", "--unordered")
            let id = try #require(UUID(uuidString: created.endpoint))
            let secrets = WebhookSecrets(key: Array("0123456789abcdef0123456789abcdef".utf8))
            #expect(created.secret == secrets.text(of: id, generation: 1))
            let rows: [Row] = try await CommandOutcome.of(
                ["webhooks", "list", "--json"], environment: environment
            ).json()
            #expect(rows.map(\.url) == ["https://example.com/hook"] && rows[0].state == "testing")
            #expect(rows[0].events == ["DID_RENEW"] && rows[0].apps == ["com.example.app"] && !rows[0].isOrdered)
            let again: Secret = try await CommandOutcome.of(
                ["webhooks", "secret", created.endpoint, "--json"], environment: environment
            ).json()
            #expect(again.secret == created.secret)
            let rotated: Secret = try await CommandOutcome.of(
                ["webhooks", "rotate", created.endpoint, "--json"], environment: environment
            ).json()
            #expect(rotated.generation == 2 && rotated.secret == secrets.text(of: id, generation: 2))
            #expect(try await store.find(id)?.endpoint.generation == 2)
            let audit = await CommandOutcome.of(["audit"], environment: environment)
            #expect(audit.text.contains("webhooks create") && audit.text.contains("webhooks rotate"))
            #expect(!audit.text.contains("whsec_"))
        }
    }

    @Test(arguments: [
        "http://example.com/hook", "https://user@example.com/", "https://example.com:22/", "https://0x7f.1/",
        "nonsense",
    ])
    func `webhooks create rejects a URL to which nothing is sent, and names the reason`(url: String) async throws {
        let outcome = await CommandOutcome.of(["webhooks", "create", "--environment", "Production", "--url", url])
        #expect(outcome.code == 64 && outcome.errorOutput.contains("the URL is not accepted"))
    }

    @Test func `webhooks create warns of an event and a fact that no change has`() async {
        func create(_ filter: String...) async -> CommandOutcome {
            await CommandOutcome.of(
                ["webhooks", "create", "--environment", "Production", "--url", "https://example.com/", "--dry-run"]
                    + filter)
        }
        let wrong = await create("--event", "EXPIRED.VOLUNTARY", "--fact", "accesUntil")
        #expect(wrong.code == 0 && wrong.errorOutput.contains("EXPIRED.VOLUNTARY"))
        #expect(wrong.errorOutput.contains("No change has the fact accesUntil"))
        let right = await create(
            "--event", "EXPIRED/VOLUNTARY", "--event", "ACCESS_ENDED", "--event", "signedTransaction", "--fact",
            "accessUntil", "--fact", "earlierExpiresDate", "--fact", "refundRequest")
        #expect(right.code == 0 && right.errorOutput == "")
        // It gets what Apple sent as a notification.
        let relay = await create("--kind", "apple", "--event", "ACCESS_ENDED")
        #expect(relay.code == 0 && relay.errorOutput.contains("ACCESS_ENDED"))
    }

    @Test func `webhooks create without the key changes nothing and names the variable`() async throws {
        try await TestDatabase.use { database in
            let outcome = await database.run(
                ["webhooks", "create", "--environment", "Production", "--url", "https://example.com/"])
            #expect(outcome.code == 78 && outcome.errorOutput.contains("STOREKEEPER_WEBHOOK_KEY_FILE"))
            let list = await database.run(["webhooks", "list"])
            #expect(list.text.hasPrefix("There is no webhook endpoint"))
        }
    }

    @Test func `webhooks pause, resume, remove and replay change what they say, and ask where something is lost`()
        async throws
    {
        try await Self.with { environment, store in
            let created = try await Self.create(environment)
            let id = try #require(UUID(uuidString: created.endpoint))
            func run(_ arguments: String..., confirm: (@Sendable (String) async -> Bool)? = nil) async -> CommandOutcome
            {
                await CommandOutcome.of(["webhooks"] + arguments, environment: environment, confirm: confirm)
            }
            #expect(await run("pause", created.endpoint, "--dry-run").text.contains("Nothing would be sent"))
            #expect(try await store.find(id)?.endpoint.state == .testing)
            #expect(await run("pause", created.endpoint).code == 0)
            #expect(try await store.find(id)?.endpoint.state == .paused)
            let show = await run("show", created.endpoint)
            #expect(show.text.contains("paused") && show.text.contains("https://example.com/hook"))
            #expect(await run("resume", created.endpoint).code == 0)
            #expect(try await store.find(id)?.endpoint.state == .testing)
            let none = await run("replay", created.endpoint, "--sequence", "5", "--yes")
            #expect(none.code == 1 && none.errorOutput.contains("no such change"))
            #expect(await run("replay", created.endpoint).code == 64)
            let later = await run("replay", created.endpoint, "--from", "2999-01-01", "--yes")
            #expect(later.code == 64 && later.errorOutput.contains("is not after --from"))
            let mixed = await run("replay", created.endpoint, "--purchase", "1", "--event", "EXPIRED")
            #expect(mixed.code == 64 && mixed.errorOutput.contains("--app, --event and --fact need --from"))
            let typo = await run("replay", created.endpoint, "--from", "2h", "--event", "EXPIRD", "--dry-run")
            #expect(typo.text.contains("0 changes would be sent") && typo.errorOutput.contains("EXPIRD"))
            #expect(await run("deliveries", created.endpoint).text == "There is no such delivery.")
            #expect(await run("remove", created.endpoint).code == 0)
            let gone = await run("show", created.endpoint)
            #expect(gone.code == 1 && gone.errorOutput.contains("there is no webhook endpoint"))
        }
    }

    @Test func `webhooks create --kind apple makes an endpoint that is active at once and has no test`() async throws {
        try await Self.with { environment, store in
            let created = try await Self.create(environment, "--kind", "apple", "--event", "DID_RENEW")
            let rows: [Row] = try await CommandOutcome.of(
                ["webhooks", "list", "--json"], environment: environment
            ).json()
            #expect(rows.map(\.kind) == ["apple"] && rows.map(\.state) == ["active"])
            let test = await CommandOutcome.of(["webhooks", "test", created.endpoint], environment: environment)
            #expect(test.code == 1 && test.errorOutput.contains("test-notification"))
            let facts = await CommandOutcome.of(
                [
                    "webhooks", "create", "--environment", "Production", "--url", "https://example.com/", "--kind",
                    "apple", "--fact", "accessUntil",
                ], environment: environment)
            #expect(facts.code == 64 && facts.errorOutput.contains("no facts"))
            let plan = await CommandOutcome.of(
                [
                    "webhooks", "create", "--environment", "Production", "--url", "https://example.com/", "--kind",
                    "apple", "--dry-run",
                ], environment: environment)
            #expect(plan.text.contains("Apple's notifications of Production"))
        }
    }

    @Test func `EventLines splits a stream into events, however it is cut`() {
        let stream =
            ": storekeeper\nid: a0\n\nid: a1\nevent: subscription.changed\ndata: {\"x\": 1}\n\n: no news\n\nid: a2\ndata: 2\n\n"
        let expected = [
            EventLines.Event(id: "a0", data: []),
            EventLines.Event(id: "a1", data: Array("{\"x\": 1}".utf8)),
            EventLines.Event(id: "a2", data: Array("2".utf8)),
        ]
        for size in 1...stream.utf8.count {
            var lines = EventLines()
            var events: [EventLines.Event] = []
            var rest = Array(stream.utf8)[...]
            while !rest.isEmpty {
                events += lines.add(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
            #expect(events == expected)
        }
    }
}
