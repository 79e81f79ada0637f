import Contracts
import Development
import Foundation
import TestSupport
import Testing

@testable import Chassis
@testable import Ingest

/// The command as an operator starts it.
@Suite(.hangLimit) struct ProcessTests {
    private func end(_ arguments: [String] = [], _ environment: [String: String] = [:]) async throws
        -> SpawnedIngest.End
    {
        await (try SpawnedIngest(arguments, environment: environment)).end()
    }

    @Test func `ingest --help needs no configuration and lists every variable`() async throws {
        let end = try await end(["--help"])
        #expect(end.code == 0)
        #expect(end.complaint == "")
        for variable in Configuration().variables { #expect(end.output.contains("  \(variable.name)  (")) }
    }

    @Test func `ingest with a wrong configuration exits 78 with all problems at once`() async throws {
        let end = try await end(
            [],
            [
                "STOREKEEPER_INGEST_ADRESS": "127.0.0.1:0", "STOREKEEPER_INGEST_MAX_BODY": "plenty",
                "STOREKEEPER_LOG_LEVEL": "loud",
            ])
        #expect(end.code == 78)
        #expect(end.output == "")
        #expect(end.complaint.hasPrefix("ingest: The configuration has 4 problems:\n"))
        #expect(end.complaint.contains("did you mean STOREKEEPER_INGEST_ADDRESS?"))
        for name in ["KAFKA_BOOTSTRAP_SERVERS", "STOREKEEPER_INGEST_MAX_BODY", "STOREKEEPER_LOG_LEVEL"] {
            #expect(end.complaint.contains("  - \(name) is "))
        }
    }

    @Test func `ingest reports a setting that librdkafka does not know before it starts`() async throws {
        let end = try await end([], ["KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1", "KAFKA_NONSENSE_SETTING": "1"])
        #expect(end.code == 78)
        #expect(end.complaint.contains("nonsense.setting"))
    }

    @Test func `ingest with an unknown argument exits 64`() async throws {
        let end = try await end(["--port=1"], ["KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"])
        #expect(end.code == 64)
        #expect(end.complaint.contains("see --help"))
    }

    @Test func `ingest prints its effective configuration without starting`() async throws {
        let end = try await end(
            ["--config"], ["KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1", "KAFKA_SASL_PASSWORD": "hush"])
        #expect(end.code == 0)
        #expect(end.output.contains("STOREKEEPER_INGEST_MAX_BODY=128KiB\n"))
        #expect(!end.output.contains("hush"))
    }

    @Test func `ingest on a port in use exits 1 and names the variable to set`() async throws {
        try await RunningReceiver.with { running in
            let end = try await end(
                [],
                [
                    "KAFKA_BOOTSTRAP_SERVERS": running.broker.bootstrapServers,
                    "STOREKEEPER_INGEST_ADDRESS": "127.0.0.1:\(running.port)",
                    "STOREKEEPER_ADMIN_ADDRESS": "127.0.0.1:0",
                ])
            #expect(end.code == 1)
            #expect(end.output.contains("Set STOREKEEPER_INGEST_ADDRESS"))
        }
    }

    @Test func `ingest receives, and exits 0 on SIGTERM after its last heartbeat`() async throws {
        let broker = try DevelopmentBroker(routes: [Topics.received.route, Topics.heartbeats.route])
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let file = directory.url("port")
        let ingest = try SpawnedIngest(environment: [
            "KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers, "STOREKEEPER_INGEST_ADDRESS": "127.0.0.1:0",
            "STOREKEEPER_ADMIN_ADDRESS": "127.0.0.1:0", "STOREKEEPER_INGEST_PORT_FILE": file.path,
            "STOREKEEPER_INGEST_READ_TIMEOUT": "10m", "STOREKEEPER_INGEST_KAFKA_TIMEOUT": "10m",
        ])
        let port = try await ingest.port(fromLineSaying: "Receiving notifications")
        let client = try RawClient(port: port)
        #expect(await client.post(RunningReceiver.notification)?.status == 200)
        #expect(await client.post("{}")?.status == 400)
        #expect(try String(contentsOf: file, encoding: .utf8) == "\(port)\n")
        await ingest.terminate()
        let end = await ingest.end()
        #expect(end.code == 0)
        #expect(end.complaint == "")
        #expect(end.output.contains("\"message\":\"Stopped; "))

        func answered(_ beats: [IngestHeartbeat]) -> [Int64] {
            [beats.reduce(0) { $0 + $1.accepted }, beats.reduce(0) { $0 + ($1.rejected[400] ?? 0) }]
        }
        // All of them are sent: the process has ended.
        #expect(answered(try await broker.messages(of: Topics.heartbeats)) == [1, 1])
    }
}
