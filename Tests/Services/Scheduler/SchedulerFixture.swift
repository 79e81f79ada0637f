import Bootstrap
import Chassis
import Contracts
import Development
import Foundation
import Kafka
import Logging
import Postgres
import Records
import Signatures
import Storage
import Synchronization
import TestSupport

@testable import AppStore
@testable import Scheduler
@testable import ServerAPI
@testable import SimulatedAppStore

/// Apple, a broker and a database around the scheduler, whose clock stands still.
final class SchedulerFixture: Sendable {
    /// The real time, because the client learns Apple's from the answers.
    static let now = Date(milliseconds: Date().milliseconds)
    static let app = CoverageStore.App(.production, "com.example.app")
    static let logger = Logger.quiet
    private static let apple = SimulatedAppStore.App(
        bundleId: app.bundleId, appAppleId: 1_234_567_890, environment: app.environment)
    private static let authority = Result { try DevelopmentAuthority(now: now) }

    private let harness: PipelineHarness
    private let appStore: RunningAppStore
    private let keys: [SimulatedKey]
    private let transport = APITransport()
    private let sent = Mutex<[String]>([])
    /// Apple's clock, as its answers tell it.
    let appleTime = AppleTime(elapsed: { [start = ContinuousClock.now] in start.duration(to: .now) })

    var broker: DevelopmentBroker { harness.broker }
    var producer: Producer { harness.producer }
    var database: PostgresConfiguration { harness.database }
    var connection: PostgresConnection { harness.connection }
    var faults: FaultList { appStore.faults }
    /// The keys that Apple accepts.
    var ring: KeyRing { appStore.keys }

    private init(_ harness: PipelineHarness, _ appStore: RunningAppStore, _ keys: [SimulatedKey]) {
        self.harness = harness
        self.appStore = appStore
        self.keys = keys
    }

    static func open(_ body: @Sendable (SchedulerFixture) async throws -> Void) async throws {
        let authority = try authority.get()
        let keys = try ["FIRST", "SECOND"].map(SimulatedKey.init)
        let signer = NotificationSigner(authority: authority, impostor: authority)
        try await PipelineHarness.with { harness in
            try await RunningAppStore.with(
                [apple], keys: keys.map(\.accepted), signer: signer, present: { Date() }
            ) { appStore in
                let fixture = SchedulerFixture(harness, appStore, keys)
                let result: Result<Void, any Error>
                do { result = .success(try await body(fixture)) } catch { result = .failure(error) }
                try await fixture.transport.shutdown()
                try result.get()
            }
        }
    }

    // MARK: Apple's side

    /// Lets the revoked keys be good again.
    func acceptAll() { for key in keys { ring.add(key.accepted) } }

    /// Apple sent as many notifications, one each second, the last of them a minute ago, and none was taken.
    func send(_ count: Int) throws {
        for index in 0..<count {
            var sample = SampleHistory(of: Self.apple, seed: UInt64(index), now: Self.now)
            let seconds = Double(index - count) - 60
            try deliver(sample.charge(), at: Self.now.addingTimeInterval(seconds), .unavailable)
        }
    }

    /// Apple knows as many consumables; their transactions.
    func charge(_ count: Int) throws -> [String] {
        try (0..<count).compactMap { index in
            var sample = SampleHistory(of: Self.apple, seed: UInt64(1000 + index), now: Self.now)
            let event = sample.charge()
            try deliver(event, at: Self.now, .accepted)
            return event.purchase?.transactionId
        }
    }

    /// What was told about refund requests.
    var answers: RefundAnswers { appStore.answers }

    /// Apple sent a test notification that it was asked for.
    func sendTest(token: String, status: Int) throws -> UUID {
        let uuid = UUID(uuidString: String(token.prefix(36))) ?? UUID()
        let event = EventPayload(uuid: uuid, kind: .test, app: Self.apple, signedDate: Self.now)
        try deliver(event, at: Self.now, SimulatedAppStore.Answer(status: status, duration: .milliseconds(1)))
        return uuid
    }

    private func deliver(_ event: EventPayload, at date: Date, _ answer: SimulatedAppStore.Answer) throws {
        try appStore.send(event, at: date, answers: [answer])
        sent.withLock { $0.append(event.uuid.uuidString.lowercased()) }
    }

    /// The uuids of all that was sent.
    var sentUUIDs: Set<String> { Set(sent.withLock { $0 }) }

    // MARK: Our side

    /// - Parameter url: another server in Apple's place.
    func client(deadline: Duration = .hangLimit, asking url: String? = nil) -> AppStoreServerAPI {
        let registry = AppRegistry(apps: [
            AcceptedApp(bundleId: Self.app.bundleId, appAppleId: Self.apple.appAppleId)
        ])
        var client = AppStoreServerAPI(
            app: AcceptedApp(bundleId: Self.app.bundleId, appAppleId: Self.apple.appAppleId),
            environment: .production, credentials: APICredentials(keys: keys.map(\.key)),
            verifier: SignedDataVerifier(trust: .apple, apps: registry), transport: transport,
            clock: APIClock(now: { Self.now }, random: { 0 }),
            baseURL: url ?? "\(appStore.url)/production"
        ) { [appleTime] attempt in
            if let date = attempt.serverDate { appleTime.answered(date, after: attempt.duration) }
        }
        client.deadline = deadline
        return client
    }

    /// What a process of the scheduler is told, with the files that it names.
    func environment(filesIn directory: TemporaryDirectory) throws -> [String: String] {
        let own = [
            "STOREKEEPER_APPS_FILE": try directory.write(apps: [
                AcceptedApp(bundleId: Self.app.bundleId, appAppleId: Self.apple.appAppleId)
            ]),
            "STOREKEEPER_APP_STORE_API_KEYS_FILE": try SimulatedKey.write(
                keys.map { (Self.app.bundleId, $0) }, to: directory.url),
            "STOREKEEPER_APP_STORE_API_URL": appStore.url,
            "STOREKEEPER_WINDOW_LEASE": "4s",
            "STOREKEEPER_CANARY_INTERVAL": "0s", "STOREKEEPER_ADMIN_ADDRESS": "127.0.0.1:0",
            "STOREKEEPER_LOG_LEVEL": "trace",
        ]
        return harness.environment.merging(own) { _, own in own }
    }

    /// Another app with the same number of Apple's and the same keys is in both files from now on.
    func add(app: String, in directory: TemporaryDirectory) throws {
        let apps = [Self.app.bundleId, app]
        try directory.write(
            apps: apps.map { AcceptedApp(bundleId: $0, appAppleId: Self.apple.appAppleId) })
        try SimulatedKey.write(apps.flatMap { app in keys.map { (app, $0) } }, to: directory.url)
    }

    /// The account gets another key, the only one in the files from now on.
    func exchangeKeys(in directory: TemporaryDirectory) throws {
        let third = try SimulatedKey("THIRD")
        ring.add(third.accepted)
        try SimulatedKey.write([(Self.app.bundleId, third)], to: directory.url)
    }

    /// Lines of the private keys.
    var secrets: [String] {
        get throws {
            try keys.flatMap { key in
                try key.privateKey.pem().split(separator: "\n").map(String.init).filter { !$0.hasPrefix("---") }
            }
        }
    }

    /// The clock of a scheduler on a machine whose calendar, and the database's, is ahead.
    func appleNow(ahead seconds: TimeInterval) -> @Sendable () -> Date {
        let clock = ProcessClock(now: { Date().addingTimeInterval(seconds) }, instant: { .now })
        return { [appleTime] in clock.now(notAheadOf: appleTime) }
    }

    func fetch(
        slice: TimeInterval = 86_400, deadline: Duration = .hangLimit, over connection: PostgresConnection? = nil,
        asking url: String? = nil, now: @escaping @Sendable () -> Date = { SchedulerFixture.now }
    ) -> WindowFetch {
        let connection = connection ?? self.connection
        let client = client(deadline: deadline, asking: url)
        return WindowFetch(
            claims: WindowClaimStore(connection), coverage: CoverageStore(connection),
            client: { $0 == Self.app ? client : nil }, producer: producer,
            partitioner: WindowPartitioner(length: slice, longOutage: 1e9), leaseSeconds: 60,
            sweepDelay: 3600, clocks: ClockCheck(connection: connection, now: now), now: now, newId: { UUID() },
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

    /// All pages of Apple's history that were sent to Kafka. A page that was sent again may be in another partition.
    func pages() async throws -> [HistoryPage] { try await broker.messages(of: Topics.historyPages) }

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
