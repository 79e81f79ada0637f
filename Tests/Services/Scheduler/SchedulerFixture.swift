import Contracts
import Development
import Foundation
import Kafka
import Logging
import Postgres
import Signatures
import Storage
import Synchronization
import TestSupport

@testable import AppStore
@testable import Scheduler
@testable import Simulator

/// The simulator's API on a port of its own with a history to be filled by hand, a broker and a database. The calendar
/// stands still.
final class SchedulerFixture: Sendable {
    /// The real time, because the client learns Apple's from the answers.
    static let now = Date(milliseconds: Date().milliseconds)
    static let app = CoverageStore.App(.production, "com.example.app")
    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private static let apple = Simulator.App(
        bundleId: app.bundleId, appAppleId: 1_234_567_890, environment: app.environment)
    private static let authority = Result { try DevelopmentAuthority(now: now) }

    let faults = FaultList()
    let ring: KeyRing
    let broker: DevelopmentBroker
    let producer: Producer
    let database: PostgresConfiguration
    let connection: PostgresConnection
    private let historyStore = HistoryStore(limit: 10_000)
    private let keys: [(key: APIKey, accepted: AcceptedKey)]
    private let signer: NotificationSigner
    private let transport = APITransport()
    private let port = Mutex(0)
    private let sent = Mutex<[String]>([])

    private init(_ database: PostgresConfiguration) throws {
        let authority = try Self.authority.get()
        signer = NotificationSigner(authority: authority, impostor: authority)
        keys = try ["FIRST", "SECOND"].map { name in
            let key = try P256PrivateKey.generate()
            return (
                APIKey(issuerId: "issuer", keyId: name, privateKey: key),
                AcceptedKey(issuerId: "issuer", keyId: name, publicKey: try key.publicKey())
            )
        }
        ring = KeyRing(keys.map(\.accepted))
        self.database = database
        connection = TestDatabase.connection(database)
        let topics = [
            Topics.historyPages.route, Topics.recoveryRequests.route, Topics.heartbeats.route, Topics.rejected.route,
        ]
        broker = try DevelopmentBroker(topics: topics.map { ($0.name, $0.partitions) })
        producer = try Producer(broker.configuration, logger: Self.logger)
    }

    static func open(_ body: @Sendable (SchedulerFixture) async throws -> Void) async throws {
        try await TestDatabase.use { database async throws in
            let fixture = try SchedulerFixture(database)
            let result = try await fixture.server.answering(on: "127.0.0.1", port: 0) { port in
                fixture.port.withLock { $0 = port }
                let result: Result<Void, any Error>
                do { result = .success(try await body(fixture)) } catch { result = .failure(error) }
                return result
            }
            try await fixture.transport.shutdown()
            await fixture.producer.close(deadline: .seconds(5))
            try result.get()
        }
    }

    private var server: StoreServer {
        let deliveryService = DeliveryService(Outbox(plan: Plan(apps: [Self.apple], count: 1), now: Self.now))
        let api = StoreAPI(
            apps: [Self.apple], historyStore: historyStore, deliveryService: deliveryService, signer: signer,
            keys: ring,
            limits: RateLimits(scale: 1000), faults: faults, tokenLife: 3600, present: { Date() },
            now: { Date() })
        return StoreServer(
            api: api,
            control: ServerControl(
                historyStore: historyStore, deliveryService: deliveryService, keys: ring, keyFiles: nil, faults: faults,
                now: { Date() }))
    }

    // MARK: Apple's side

    /// Lets the revoked keys be good again.
    func acceptAll() { for key in keys { ring.add(key.accepted) } }

    /// Apple sent as many notifications, one each second, the last of them a minute ago, and none was taken.
    func send(_ count: Int) throws {
        for index in 0..<count {
            var sample = SampleHistory(of: Self.apple, seed: UInt64(index), now: Self.now)
            let seconds = Double(index - count) - 60
            try deliver(sample.charge(), at: Self.now.addingTimeInterval(seconds), status: 503)
        }
    }

    /// Apple sent a test notification that it was asked for.
    func sendTest(token: String, status: Int) throws -> UUID {
        let uuid = UUID(uuidString: String(token.prefix(36))) ?? UUID()
        let event = EventPayload(uuid: uuid, kind: .test, app: Self.apple, signedDate: Self.now)
        try deliver(event, at: Self.now, status: status)
        return uuid
    }

    private func deliver(_ event: EventPayload, at date: Date, status: Int) throws {
        let notification = try signer.write(PendingNotification(event: event))
        historyStore.note(event)
        let delivery = NotificationDelivery(notification: notification, attempt: 1)
        _ = historyStore.begin(delivery, at: { date })
        historyStore.end(delivery, Answer(status: status, duration: .milliseconds(1)), sentAt: date)
        sent.withLock { $0.append(event.uuid.uuidString.lowercased()) }
    }

    /// The uuids of all that was sent.
    var book: Set<String> { Set(sent.withLock { $0 }) }

    // MARK: Our side

    /// - Parameter url: another server in Apple's place.
    func client(deadline: Duration = .seconds(20), asking url: String? = nil) -> AppStoreServerAPI {
        let registry = AppRegistry(apps: [
            AcceptedApp(bundleId: Self.app.bundleId, appAppleId: Self.apple.appAppleId)
        ])
        var client = AppStoreServerAPI(
            app: AcceptedApp(bundleId: Self.app.bundleId, appAppleId: Self.apple.appAppleId),
            environment: .production, credentials: APICredentials(keys: keys.map(\.key)),
            verifier: SignedDataVerifier(trust: .apple, apps: registry), transport: transport,
            clock: APIClock(now: { Self.now }, random: { 0 }),
            baseURL: url ?? "http://127.0.0.1:\(port.withLock { $0 })/production")
        client.deadline = deadline
        return client
    }

    /// What a process of the scheduler is told, with the files that it names.
    func environment(filesIn directory: URL) throws -> [String: String] {
        let apps = directory.appending(path: "apps.json")
        try write(apps: [Self.app.bundleId], in: directory)
        try write(keys.map(\.key), in: directory)
        let own = [
            "DATABASE_URL": database.url, "STOREKEEPER_APPS_FILE": apps.path,
            "STOREKEEPER_APP_STORE_API_KEYS_FILE": directory.appending(path: "api-keys.json").path,
            "STOREKEEPER_APP_STORE_API_URL": "http://127.0.0.1:\(port.withLock { $0 })",
            "STOREKEEPER_WINDOW_LEASE": "4s",
            "STOREKEEPER_CANARY_INTERVAL": "0s", "STOREKEEPER_ADMIN_ADDRESS": "127.0.0.1:0",
            "STOREKEEPER_LOG_LEVEL": "trace",
        ]
        return broker.environment.merging(own) { _, own in own }
    }

    /// Apps with the same number of Apple's.
    private func write(apps: [String], in directory: URL) throws {
        let apps = apps.map {
            #"{"bundleId": "\#($0)", "appAppleId": \#(Self.apple.appAppleId), "environments": ["Production"]}"#
        }
        try Data("[\(apps.joined(separator: ","))]".utf8)
            .write(to: directory.appending(path: "apps.json"), options: .atomic)
    }

    /// Another app is in both files from now on.
    func add(app: String, in directory: URL) throws {
        try write(apps: [Self.app.bundleId, app], in: directory)
        try write(keys.map(\.key), apps: [Self.app.bundleId, app], in: directory)
    }

    private func write(_ keys: [APIKey], apps: [String] = [app.bundleId], in directory: URL) throws {
        for key in keys {
            try Data(try key.privateKey.pem().utf8).write(to: directory.appending(path: "\(key.keyId).p8"))
        }
        let entries = apps.flatMap { app in
            keys.map { key in
                #"{"bundleId": "\#(app)", "issuerId": "issuer", "keyId": "\#(key.keyId)", "#
                    + #""privateKeyFile": "\#(key.keyId).p8"}"#
            }
        }
        try Data("[\(entries.joined(separator: ","))]".utf8)
            .write(to: directory.appending(path: "api-keys.json"), options: .atomic)
    }

    /// The account gets another key, the only one in the files from now on.
    func exchangeKeys(in directory: URL) throws {
        let key = try P256PrivateKey.generate()
        ring.add(AcceptedKey(issuerId: "issuer", keyId: "THIRD", publicKey: try key.publicKey()))
        try write([APIKey(issuerId: "issuer", keyId: "THIRD", privateKey: key)], in: directory)
    }

    /// Lines of the private keys.
    var secrets: [String] {
        get throws {
            try keys.flatMap { key, _ in
                try key.privateKey.pem().split(separator: "\n").map(String.init).filter { !$0.hasPrefix("---") }
            }
        }
    }

    func fetch(
        slice: TimeInterval = 86_400, deadline: Duration = .seconds(20), over connection: PostgresConnection? = nil,
        asking url: String? = nil
    ) -> WindowFetch {
        let connection = connection ?? self.connection
        let client = client(deadline: deadline, asking: url)
        return WindowFetch(
            claims: WindowClaimStore(connection), coverage: CoverageStore(connection),
            client: { $0 == Self.app ? client : nil }, producer: producer,
            partitioner: WindowPartitioner(length: slice, longOutage: 1e9), leaseSeconds: 60, now: { Self.now },
            newId: { UUID() },
            logger: Self.logger)
    }

    /// Opens a window over the last so many seconds.
    func open(seconds: TimeInterval = 3600, reason: RecoveryWindow.Reason = .manual) async throws -> UUID {
        let id = UUID()
        let scope = RecoveryWindow.Scope(
            environment: Self.app.environment, bundleId: Self.app.bundleId, from: Self.now.addingTimeInterval(-seconds),
            to: Self.now)
        try await RecoveryWindowStore(connection).open(
            [.init(id: id, scope: scope, reason: reason)], at: Self.now)
        return id
    }

    func claim() async throws -> WindowClaim? {
        try await WindowClaimStore(connection).claim(for: UUID(), apps: [Self.app], seconds: 60).first
    }

    /// Claims and fetches until nothing is left to be claimed.
    /// - Returns: how the claims ended.
    func fetchAll(_ fetch: WindowFetch) async throws -> [WindowFetch.End] {
        var ends: [WindowFetch.End] = []
        while let claim = try await claim() { ends.append(try await fetch.fetch(claim)) }
        return ends
    }

    /// Fetches what can be claimed, however long it was to wait.
    /// - Parameter turns: not more claims than this.
    func fetchThroughout(_ fetch: WindowFetch, turns: Int) async throws -> [WindowFetch.End] {
        var ends: [WindowFetch.End] = []
        while ends.count < turns, let claim = try await claim() {
            ends.append(try await fetch.fetch(claim))
            try await passTime()
        }
        return ends
    }

    /// Makes what is held or put off free to be claimed, as the passing of time would.
    func passTime() async throws {
        try await connection.run(
            unsafeScript: "update recovery_window set held_until = null, not_before = null where state = 'open'")
    }

    func window(_ id: UUID) async throws -> RecoveryWindow? {
        try await RecoveryWindowStore(connection).window(id)
    }

    /// Reads pages off the log until all of these uuids are among them.
    func pages(until uuids: Set<String>) async throws -> [HistoryPage] {
        try await read(Topics.historyPages) { uuids.isSubset(of: $0.uuids) }
    }

    /// Reads a topic from its beginning until it is enough.
    func read<Message: TopicMessage>(
        _ topic: Topic<Message>, until isEnough: ([Message]) -> Bool
    ) async throws -> [Message] {
        let consumer = try Consumer(
            broker.configuration, group: UUID().uuidString, offsetReset: .earliest, logger: Self.logger)
        try await consumer.assign(
            (0..<topic.route.partitions).map {
                TopicPartitionOffset(TopicPartition(topic: topic.name, partition: Int32($0)), offset: 0)
            })
        var messages: [Message] = []
        let deadline = ContinuousClock.now.advanced(by: .seconds(60))
        while !isEnough(messages), ContinuousClock.now < deadline {
            guard case .records(let records) = try await consumer.turn(limit: 1000, wait: .seconds(5)) else { continue }
            for record in records { messages.append(try Message(WireRecord(key: record.key, value: record.value))) }
        }
        await consumer.close(deadline: .seconds(5))
        return messages
    }

    /// Makes the ledger begin some hours ago.
    func record(hoursAgo hours: Double, uuid: UUID = UUID()) async throws {
        let date = Self.now.addingTimeInterval(-hours * 3600)
        let entry = LedgerEntry(
            notificationUUID: uuid, notificationType: "TEST", subtype: nil, environment: Self.app.environment,
            bundleId: Self.app.bundleId, appAppleId: nil, originalTransactionId: nil, transactionId: nil,
            signedDate: date, receivedAt: date, source: .webhook, decodedPayload: "{}", signedPayload: [1], event: nil,
            position: LogPosition(topic: "t", partition: 0, offset: 0))
        _ = try await LedgerStore(connection).apply([entry], moving: [], recordedAt: date)
    }
}

extension [HistoryPage] {
    /// Of all that is listed, once each.
    var uuids: Set<String> { Set(allUUIDs) }

    /// In the order of the log.
    var allUUIDs: [String] {
        flatMap(\.items).compactMap {
            UncheckedNotification($0.signedPayload)?.notificationUUID?.uuidString.lowercased()
        }
    }
}
