import AppStore
import Bootstrap
import Chassis
import Contracts
import Development
import Foundation
import Interpretation
import Pipeline
import Postgres
import Records
import ServerAPI
import Signatures
import Storage
import Subscriptions
import Synchronization
import TestSupport

@testable import Recovery
@testable import SimulatedAppStore
@testable import Verifier

/// Apple, a broker and a database around recovery, and the pipeline from there to the ledger.
final class RecoveryFixture: Sendable {
    /// When the purchases have happened; the clock of the stages that a test calls itself, which stands still.
    static let now = Date(milliseconds: Date().milliseconds - 200_000)
    static let apple = SimulatedAppStore.App(
        bundleId: History.app.bundleId, appAppleId: 1_234_567_890, environment: .production)
    private static let authority = Result { try DevelopmentAuthority(now: now) }

    /// An app of ours whose key Apple does not accept.
    static let rejectedApp = "com.example.rejected"

    let history: History
    let api: AppleAPI
    private let appStore: RunningAppStore
    private let key: SimulatedKey
    private let environment: [String: String]
    private let verifier: SignedDataVerifier
    private let applied = Mutex<Int64>(0)

    /// The keys that Apple accepts.
    var ring: KeyRing { appStore.keys }

    /// Lends one, with its files, and removes them.
    static func open(_ body: @Sendable (RecoveryFixture) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let authority = try authority.get()
        let key = try SimulatedKey("ACCEPTED")
        try directory.write("root.pem", authority.rootPEM)
        try directory.write(apps: [
            AcceptedApp(bundleId: History.app.bundleId, appAppleId: apple.appAppleId),
            AcceptedApp(bundleId: rejectedApp, appAppleId: 2),
        ])
        try SimulatedKey.write(
            [(History.app.bundleId, key), (rejectedApp, try SimulatedKey("REJECTED"))], to: directory.url)
        let signer = NotificationSigner(authority: authority, impostor: authority)
        try await History.use { history in
            try await RunningAppStore.with(
                [apple], keys: [key.accepted], signer: signer, present: { now }, now: { Date() }
            ) { appStore in
                let fixture = try RecoveryFixture(history, appStore, key, directory)
                let result: Result<Void, any Error>
                do { result = .success(try await body(fixture)) } catch { result = .failure(error) }
                try await fixture.api.close()
                try result.get()
            }
        }
    }

    private init(
        _ history: History, _ appStore: RunningAppStore, _ key: SimulatedKey, _ directory: TemporaryDirectory
    ) throws {
        self.history = history
        self.appStore = appStore
        self.key = key
        environment = [
            "STOREKEEPER_APP_STORE_API_KEYS_FILE": directory.path("api-keys.json"),
            "STOREKEEPER_APPS_FILE": directory.path("apps.json"),
            "STOREKEEPER_ROOT_FILES": directory.path("root.pem"),
            "STOREKEEPER_DEVELOPMENT_MODE": "true", "STOREKEEPER_APP_STORE_API_URL": appStore.url,
            "STOREKEEPER_APP_STORE_API_LIMIT_SHARE": "1",
        ]
        let settings = try history.context(environment).settings
        guard
            let api = try settings.appleAPI(
                clock: APIClock(now: { Date() }, random: { 0 }), logger: History.logger)
        else { throw Missing() }
        self.api = api
        let trusted = try TrustSettings(
            apps: settings.apps ?? "", roots: settings.roots ?? [], developmentMode: settings.developmentMode)
        verifier = SignedDataVerifier(trust: trusted.trust, apps: trusted.apps)
    }

    struct Missing: Error {}

    // MARK: Apple's side

    /// It happened, and a notification of it was sent at a time and taken; nil where none was ever sent.
    func happen(_ event: EventPayload, sentAt date: Date?) throws {
        guard let date else { return appStore.historyStore.note(event) }
        try appStore.send(event, at: date)
    }

    /// A customer of whom nothing has happened yet.
    static func subscriber() -> PurchaseFixture {
        PurchaseFixture(apple, seed: 7, beginning: now.addingTimeInterval(-100 * 86_400))
    }

    /// A customer of whom Apple sent all that happened, an hour ago.
    func subscriber(_ events: [LifecycleEvent]) throws -> PurchaseFixture {
        var subscriber = Self.subscriber()
        for event in events {
            try happen(subscriber.next(event), sentAt: Self.now.addingTimeInterval(-3600))
        }
        return subscriber
    }

    func acceptKey() { ring.add(key.accepted) }

    func revokeKey() { _ = ring.revoke(key.accepted.keyId) }

    // MARK: Our side

    var ask: FetchCustomerHistory { asking { Self.now } }

    func asking(by now: @escaping @Sendable () -> Date) -> FetchCustomerHistory {
        let connection = history.connection
        return FetchCustomerHistory(
            clients: api.clients, items: RecoveryItemStore(connection), answers: RecoveryAnswerStore(connection),
            knownState: KnownState(connection), now: now, deadline: .hangLimit)
    }

    func history(
        of purchase: String, by now: @escaping @Sendable () -> Date = { RecoveryFixture.now }
    ) async throws -> CustomerHistory {
        let result = try await asking(by: now).process([Self.delivery(Self.request(purchase))])[0]
        guard case .forward(.answered(let history)) = result else { throw Rejected(result: "\(result)") }
        return history
    }

    /// All workers of the process. Their clock runs: a pause ends by it.
    func services() async throws -> [any Service] {
        let context = try history.context(environment, now: { Date() })
        let api = try context.settings.appleAPI(
            clock: APIClock(now: { Date() }, random: { 0 }), logger: History.logger)
        return try await RecoveryServices(context, newId: { UUID() }).all(api: api)
    }

    static func request(_ purchase: String, of app: String = History.app.bundleId) -> RecoveryRequest {
        RecoveryRequest(
            environment: .production, originalTransactionId: purchase, bundleId: app, skipped: ["period"],
            before: UUID(), from: nil, to: now, requestedAt: now)
    }

    static func delivery(_ request: RecoveryRequest) -> Pipeline.Delivery<RecoveryRequest> {
        Pipeline.Delivery(
            message: request, position: LogPosition(topic: Topics.recoveryRequests.name, partition: 0, offset: 0))
    }

    /// What the stages after recovery do: proof, ledger, state.
    func runPipeline(_ received: [ReceivedNotification]) async throws {
        let position = LogPosition(topic: "t", partition: 0, offset: 0)
        let verifier = verifier
        let results = try await Verify(verifier: { verifier }, now: { Self.now }, cores: 1).process(
            received.map { Pipeline.Delivery(message: $0, position: position) })
        let entries = try results.map { result in
            guard case .forward(let verified) = result else { throw Rejected(result: "\(result)") }
            return try LedgerEntry(verified, position: position)
        }
        _ = try await PositionStore(history.connection).establish(
            cluster: "line", group: "g", lowWatermarks: [position])
        let offset = applied.withLock { $0 }
        let move = PositionMove(
            cluster: "line", group: "g", topic: "t", partition: 0, expected: offset, next: offset + 1)
        _ = try await LedgerStore(history.connection).apply(entries, moving: [move], recordedAt: Self.now)
        applied.withLock { $0 += 1 }
    }

    struct Rejected: Error {
        var result: String
    }

    func subscription(_ purchase: String) async throws -> Subscription? {
        try await SubscriptionStore(history.connection).find(
            SubscriptionKey(environment: .production, originalTransactionId: purchase))
    }
}
