import Contracts
import Development
import Foundation
import Kafka
import Logging
import Operations
import Pipeline
import Postgres
import Records
import Storage
import TestSupport
import Testing

@testable import Storekeeper

struct StatusTests {
    /// On a machine that does other work beside it.
    private static let status = ["status", "--timeout", "60"]

    @Test func `status shows what waits and for how long, what arrived, what was rejected, and the receivers`()
        async throws
    {
        try await PipelineHarness.with { harness async throws in
            _ = try await SampleLedger.fill(harness.database)
            let now = Date()
            try await Self.fill(harness, now)
            let environment = harness.environment

            let screen = await CommandOutcome.of(Self.status, environment: environment, now: now)
            #expect(screen.code == 2, "no day is complete, and the verifier is behind")
            let verifier = screen.text.split(separator: "\n").first { $0.hasPrefix("  verifier  ") }
            #expect(verifier?.contains(" 2 ") == true, "\(screen.text)")
            #expect(screen.text.contains("! verifier is 5 min behind"), "\(screen.text)")
            for words in [
                "webhook to state  half within 2000 ms, 99 % within 2000 ms, of the last 3", "undecodable",
                "receiver-1", "nothing compared with Apple's history yet",
            ] {
                #expect(screen.text.contains(words), "\(words) in \(screen.text)")
            }

            let json = await CommandOutcome.of(Self.status + ["--json"], environment: environment, now: now)
            let report = try #require(
                try JSONSerialization.jsonObject(with: Data(json.text.utf8)) as? [String: Any])
            let stages = try #require(report["stages"] as? [[String: Any]])
            #expect(stages.first { $0["name"] as? String == "verifier" }?["waiting"] as? Int == 2)
            #expect((report["attention"] as? [String])?.isEmpty == false)
        }
    }

    @Test func `status gives a new pipeline its receivers' first minute, and no more`() async throws {
        try await TestDatabase.use { database async throws in
            var environment = database.environment
            environment["KAFKA_BOOTSTRAP_SERVERS"] = "127.0.0.1:1"
            let born = Date()
            let young = await CommandOutcome.of(Self.status, environment: environment, now: born)
            #expect(!young.text.contains("check that Apple can reach ingest"), "\(young.text)")
            #expect(young.text.contains("no heartbeat yet"), "\(young.text)")
            let later = await CommandOutcome.of(
                Self.status, environment: environment, now: born.addingTimeInterval(300))
            #expect(later.text.contains("no receiver was alive within the last hour"), "\(later.text)")
        }
    }

    @Test func `status says why a dependency cannot be read, and shows the rest`() async throws {
        try await TestDatabase.use { database async throws in
            _ = try await SampleLedger.fill(database)
            var environment = database.environment
            environment["KAFKA_BOOTSTRAP_SERVERS"] = "127.0.0.1:1"
            let outcome = await CommandOutcome.of(Self.status, environment: environment)
            #expect(outcome.code == 2)
            #expect(outcome.text.contains("! Kafka is unavailable"))
            #expect(outcome.text.contains("  unavailable: "))
            #expect(outcome.text.contains("of the last 3"))
        }
        let broker = try DevelopmentBroker(routes: Topics.all)
        defer { withExtendedLifetime(broker) {} }
        var environment = broker.environment
        environment["DATABASE_URL"] = "postgres://127.0.0.1:1/none"
        let outcome = await CommandOutcome.of(Self.status, environment: environment)
        #expect(outcome.code == 2)
        #expect(outcome.text.contains("! the database is unavailable"))
        #expect(outcome.text.contains("  verifier"))
    }

    /// What status says of a database where no wait is short, by a clock that a simulator has set.
    private static func attention(
        to database: PostgresConfiguration, at now: Date, _ attention: Attention = .impatient
    ) async -> String {
        await StatusReader(
            database: database, kafka: KafkaConfiguration(bootstrapServers: "127.0.0.1:1"), sample: 1,
            limit: .seconds(60), attention: attention
        ).report(at: now).attention.joined(separator: "\n")
    }

    @Test func `status names the session that holds a lock which a service waits for`() async throws {
        try await TestDatabase.use { database async throws in
            var service = database
            service.applicationName = "storekeeper state-updater"
            let (holder, waiting) = (TestDatabase.connection(database), TestDatabase.connection(service))
            try await holder.run(unsafeScript: "begin; lock table subscription in access exclusive mode")
            let process = try await holder.backendProcess()
            async let waits = waiting.execute(Statement("test-waits", "select 1 as one from subscription"))
            _ = try await TestDatabase.blockedBackends(asking: TestDatabase.connection(database))
            // Before the statement began, by the clock of the report: how long it waits is the database's to say.
            let text = await Self.attention(to: database, at: Date().addingTimeInterval(-86_400))
            #expect(text.contains("storekeeper state-updater has waited for a lock for "), "\(text)")
            #expect(text.contains("session \(process) "), "\(text)")
            #expect(text.contains("lock table subscription in access exclusive mode"), "\(text)")
            var patient = Attention()
            patient.lock = 3600
            let later = await Self.attention(to: database, at: Date().addingTimeInterval(86_400), patient)
            #expect(!later.contains("has waited for a lock"), "\(later)")
            try await holder.run(unsafeScript: "rollback")
            _ = try await waits
        }
    }

    @Test func `status shows a section while a later one is not read yet`() async throws {
        try await TestDatabase.use { database async throws in
            let holder = TestDatabase.connection(database)
            let broker = try DevelopmentBroker(routes: Topics.all)
            let environment = database.environment.merging(broker.environment) { $1 }
            let (shown, showing) = AsyncStream<Void>.makeStream()
            try await holder.run(unsafeScript: "begin; lock table rejected in access exclusive mode")
            async let outcome = CommandOutcome.of(
                Self.status, environment: environment, now: Date(),
                printing: { if $0.contains("receivers of the last hour") { showing.yield() } })
            for await _ in shown { break }
            // Behind the first section: where it came with the last one, that one has waited for the lock in vain.
            try await holder.run(unsafeScript: "rollback")
            let text = await outcome.text
            #expect(text.contains("dead letters of the last 24 hours\n  none"), "\(text)")
            withExtendedLifetime(broker) {}
        }
    }

    @Test func `status names the transaction that has written and not ended, for which the feed of events waits`()
        async throws
    {
        try await TestDatabase.use { database async throws in
            let holder = TestDatabase.connection(database)
            try await holder.run(unsafeScript: "begin; select pg_current_xact_id()")
            let process = try await holder.backendProcess()
            let ledger = SampleLedger(connection: TestDatabase.connection(database))
            let stored = Date().addingTimeInterval(60)
            try await ledger.add(SampleLedger.bought, "SUBSCRIBED", nil, at: stored, product: "pro.monthly")
            func screen() async -> String { await Self.attention(to: database, at: stored.addingTimeInterval(-86_400)) }
            // A transaction of another test, on the same server, may be older; it ends soon.
            let deadline = ContinuousClock.now + .hangLimit
            var text = await screen()
            while !text.contains("session \(process) "), ContinuousClock.now < deadline { text = await screen() }
            #expect(text.contains("GET /v1/events shows no event that was stored within the last"), "\(text)")
            #expect(text.contains("session \(process) (user "), "\(text)")
            #expect(text.contains("select pg_terminate_backend(\(process))"), "\(text)")
            // Behind a jump of a simulated clock it is no older than before.
            var patient = Attention()
            patient.deciding = 3600
            let later = await Self.attention(to: database, at: stored.addingTimeInterval(86_400), patient)
            #expect(!later.contains("GET /v1/events"), "\(later)")
            try await holder.run(unsafeScript: "rollback")
            let after = await screen()
            #expect(!after.contains("session \(process) "), "\(after)")
        }
    }

    @Test func `status tells what waits in Kafka, within its time, where Postgres takes connections and says nothing`()
        async throws
    {
        let silent = try SilentServer()
        let broker = try DevelopmentBroker(routes: Topics.all)
        defer { withExtendedLifetime(broker) {} }
        var environment = broker.environment
        environment["DATABASE_URL"] = "postgres://127.0.0.1:\(silent.port)/none"
        let outcome = await CommandOutcome.of(["status", "--timeout", "15"], environment: environment)
        #expect(outcome.code == 2)
        #expect(outcome.text.contains("! the database is unavailable; check that Postgres runs"), "\(outcome.text)")
        // Kafka answers: what waits there is told without the database.
        #expect(outcome.text.contains("\n  verifier "), "\(outcome.text)")
        #expect(!outcome.text.contains("the lag of the stages is unknown"), "\(outcome.text)")
        withExtendedLifetime(silent) {}
    }

    @Test func `status names a broker that it does not reach, and a topic that does not exist`() async throws {
        try await TestDatabase.use { database async throws in
            let broker = try DevelopmentBroker(
                brokers: 3,
                topics: Topics.all.filter { $0.name != Topics.unique.name }.map { ($0.name, $0.partitions) })
            try broker.takeDown(broker: 2)
            let addresses = broker.bootstrapServers.split(separator: ",")
            let environment = database.environment.merging(broker.environment) { $1 }
            let outcome = await CommandOutcome.of(Self.status, environment: environment)
            #expect(
                outcome.text.contains(
                    "! 2 of 3 Kafka brokers are reachable from here, not \(addresses[1]) (broker 2)"),
                "\(outcome.text)")
            #expect(
                outcome.text.contains("! \(Topics.unique.name) does not exist: run setup"), "\(outcome.text)")
            #expect(!outcome.text.contains("Kafka is unavailable"), "\(outcome.text)")
            withExtendedLifetime(broker) {}
        }
    }

    @Test func `status tells the lag of partitions whose brokers answer, and names what the others have`() async throws
    {
        try await TestDatabase.use { database async throws in
            let broker = try DevelopmentBroker(brokers: 3, topics: Topics.all.map { ($0.name, $0.partitions) })
            for reader in StageLag.readers {
                try broker.setCoordinator(ofGroup: reader.group, broker: reader.name == "deduplicator" ? 2 : 1)
            }
            for topic in Topics.all {
                for partition in TopicPartition.all(of: topic.name, count: topic.partitions) {
                    let isLost =
                        topic.name == Topics.received.name && [3, 5].contains(partition.partition)
                        || topic.name == Topics.changed.name && partition.partition == 0
                    try broker.setLeader(of: partition, broker: isLost ? 2 : 1)
                }
            }
            try broker.takeDown(broker: 2)
            for database in [database.environment, ["DATABASE_URL": "postgres://127.0.0.1:1/none"]] {
                let environment = database.merging(broker.environment) { $1 }
                let text = await CommandOutcome.of(Self.status, environment: environment).text
                #expect(text.contains("\n  verifier "), "\(text)")
                #expect(
                    text.contains(
                        "! the lag of verifier leaves out partitions of notifications.received whose leader does not answer here: 3, 5"
                    ), "\(text)")
                #expect(text.contains("! the lag of deduplicator could not be looked at: "), "\(text)")
                #expect(
                    text.contains("! the lag of webhooks could not be looked at: whether it has run is unknown"),
                    "\(text)")
                for stage in ["deduplicator", "webhooks"] {
                    let row = text.split(separator: "\n").first { $0.hasPrefix("  \(stage) ") }
                    #expect(row?.contains(" unknown ") == true, "\(text)")
                }
                #expect(!text.contains("the lag of the stages is unknown"), "\(text)")
            }
            withExtendedLifetime(broker) {}
        }
    }

    @Test func `status without Kafka and database configured exits 78`() async {
        let outcome = await CommandOutcome.of(["status"])
        #expect(outcome.code == 78)
    }

    /// Two unread records, five minutes and one minute old; a dead letter; a receiver.
    private static func fill(_ harness: PipelineHarness, _ now: Date) async throws {
        for age in [330.0, 60] {
            let notification = ReceivedNotification(signedPayload: [1], source: .webhook, receivedAt: now)
            var record = ProducerRecord(Topics.received, notification)
            record.timestamp = now.addingTimeInterval(-age)
            try await harness.producer.send([record])
        }
        _ = try await RejectedStore(harness.connection).record([
            RejectedRow(
                cluster: "c", position: LogPosition(topic: "t", partition: 0, offset: 0), stage: "state-updater",
                reason: "undecodable", message: "it is so", rejectedAt: now.addingTimeInterval(-60))
        ])
        try await HeartbeatStore(harness.connection).record([
            IngestHeartbeat(
                instance: "receiver-1", minute: now.addingTimeInterval(-60), accepted: 10, rejected: [503: 1])
        ])
    }
}

extension Attention {
    /// To what has not waited at all.
    fileprivate static var impatient: Self {
        var attention = Self()
        (attention.lock, attention.deciding) = (0, 0)
        return attention
    }
}
