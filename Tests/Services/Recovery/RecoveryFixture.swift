import AppStore
import Bootstrap
import Chassis
import Contracts
import Development
import Foundation
import Interpretation
import Pipeline
import Postgres
import Signatures
import Storage
import Subscriptions
import Synchronization

@testable import Recovery
@testable import Simulator
@testable import Verifier

/// The simulator's API on a port of its own, with a history to be filled by hand, and the line from there to the ledger.
final class RecoveryFixture: Sendable {
    /// Our clock stands still, behind Apple's by more than a slow run of all tests takes.
    static let now = Date(milliseconds: Date().milliseconds - 200_000)
    static let apple = Simulator.App(
        bundleId: History.app.bundleId, appAppleId: 1_234_567_890, environment: .production)
    private static let authority = Result { try DevelopmentAuthority(now: now) }

    /// An app of ours whose key Apple does not accept.
    static let rejectedApp = "com.example.rejected"

    let history: History
    let ring: KeyRing
    let api: AppleAPI
    private let accepted: AcceptedKey
    private let historyStore: HistoryStore
    private let signer: NotificationSigner
    private let environment: [String: String]
    private let verifier: SignedDataVerifier
    private let applied = Mutex<Int64>(0)

    /// Lends one, with its files, and removes them.
    static func open(_ body: @Sendable (RecoveryFixture) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("apple-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let key = try P256PrivateKey.generate()
        let authority = try authority.get()
        let bundleId = History.app.bundleId
        for (name, text) in [
            ("key.p8", try key.pem()), ("root.pem", authority.rootPEM),
            ("other.p8", try P256PrivateKey.generate().pem()),
            (
                "apps.json",
                #"""
                [{"bundleId":"\#(bundleId)","appAppleId":1234567890,"environments":["Production"]},
                 {"bundleId":"\#(rejectedApp)","appAppleId":2,"environments":["Production"]}]
                """#
            ),
            (
                "keys.json",
                #"""
                [{"bundleId":"\#(bundleId)","issuerId":"i","keyId":"k","privateKeyFile":"key.p8"},
                 {"bundleId":"\#(rejectedApp)","issuerId":"i","keyId":"l","privateKeyFile":"other.p8"}]
                """#
            ),
        ] { try Data(text.utf8).write(to: directory.appendingPathComponent(name)) }
        let accepted = AcceptedKey(issuerId: "i", keyId: "k", publicKey: try key.publicKey())
        let ring = KeyRing([accepted])
        let historyStore = HistoryStore(limit: 10_000)
        let signer = NotificationSigner(authority: authority, impostor: authority)
        try await History.use { history async throws in
            let result = try await server(ring, historyStore, signer).answering(on: "127.0.0.1", port: 0) {
                port -> Result<Void, any Error> in
                let result: Result<Void, any Error>
                do {
                    let fixture = try RecoveryFixture(
                        history, ring, accepted, historyStore, signer, directory, port: port)
                    result = await Result { try await body(fixture) }
                    try await fixture.api.close()
                } catch {
                    return .failure(error)
                }
                return result
            }
            try result.get()
        }
    }

    private init(
        _ history: History, _ ring: KeyRing, _ accepted: AcceptedKey, _ historyStore: HistoryStore,
        _ signer: NotificationSigner,
        _ directory: URL, port: Int
    ) throws {
        self.history = history
        self.ring = ring
        self.accepted = accepted
        self.historyStore = historyStore
        self.signer = signer
        environment = [
            "STOREKEEPER_APP_STORE_API_KEYS_FILE": directory.appendingPathComponent("keys.json").path,
            "STOREKEEPER_APPS_FILE": directory.appendingPathComponent("apps.json").path,
            "STOREKEEPER_ROOT_FILES": directory.appendingPathComponent("root.pem").path,
            "STOREKEEPER_DEVELOPMENT_MODE": "true", "STOREKEEPER_APP_STORE_API_URL": "http://127.0.0.1:\(port)",
            "STOREKEEPER_APP_STORE_API_LIMIT_SHARE": "1",
        ]
        let settings = try history.context(environment).settings
        guard
            let api = try settings.appleAPI(
                clock: APIClock(now: { Self.now }, random: { 0 }), logger: History.logger)
        else { throw Missing() }
        self.api = api
        let trusted = try TrustSettings(
            apps: settings.apps ?? "", roots: settings.roots ?? [], developmentMode: settings.developmentMode)
        verifier = SignedDataVerifier(trust: trusted.trust, apps: trusted.apps)
    }

    struct Missing: Error {}

    private static func server(_ ring: KeyRing, _ historyStore: HistoryStore, _ signer: NotificationSigner)
        -> StoreServer
    {
        let deliveryService = DeliveryService(Outbox(plan: Plan(apps: [apple], count: 1), now: now))
        let faults = FaultList()
        // The clock of Apple's answers is the machine's: a token is processed by the same one.
        let api = StoreAPI(
            apps: [apple], historyStore: historyStore, deliveryService: deliveryService, signer: signer, keys: ring,
            limits: RateLimits(scale: 1000),
            faults: faults, tokenLife: 3600, present: { now }, now: { Date() })
        return StoreServer(
            api: api,
            control: ServerControl(
                historyStore: historyStore, deliveryService: deliveryService, keys: ring, keyFiles: nil, faults: faults,
                now: { Date() }))
    }

    // MARK: Apple's side

    /// It happened, and a notification of it was sent at a time and taken; nil where none was ever sent.
    func happen(_ event: EventPayload, sentAt date: Date?) throws {
        historyStore.note(event)
        guard let date else { return }
        let delivery = NotificationDelivery(
            notification: try signer.write(PendingNotification(event: event)), attempt: 1)
        _ = historyStore.begin(delivery, at: { date })
        historyStore.end(
            delivery, Simulator.Answer(status: 200, duration: .milliseconds(1)), sentAt: date)
    }

    func acceptKey() { ring.add(accepted) }

    func revokeKey() { _ = ring.revoke(accepted.keyId) }

    // MARK: Our side

    var ask: FetchCustomerHistory {
        let connection = history.connection
        return FetchCustomerHistory(
            clients: api.clients, items: RecoveryItemStore(connection), answers: RecoveryAnswerStore(connection),
            knownState: KnownState(connection), now: { Self.now })
    }

    /// All workers of the process.
    func services() async throws -> [any Service] {
        let context = try history.context(environment, now: Self.now)
        let api = try context.settings.appleAPI(
            clock: APIClock(now: { Self.now }, random: { 0 }), logger: History.logger)
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
    func runLine(_ received: [ReceivedNotification]) async throws {
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

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
