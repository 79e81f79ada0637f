import AppStore
import Contracts
import Foundation
import Signatures
import TestSupport

@testable import Simulator

/// The simulator's App Store Server API on a port of its own; what it knows is told by the test.
struct SimulatedStore: Sendable {
    /// A subscription that Apple knows.
    struct Bought: Sendable {
        var transactionId: String
        var originalTransactionId: String
        var productId: String
        var expiresDate: Date?
        /// On the customer's receipt by mail.
        var orderId: String
        /// Apple's notifications of it, signed.
        var signed: [[UInt8]]
    }

    private let app: Simulator.App
    private let historyStore = HistoryStore(limit: 1000)
    private let signer: NotificationSigner

    /// - Parameters:
    ///   - apps: by bundle id, those that have an In-App Purchase key, in Production.
    ///   - body: is given clients that trust what the simulator signs.
    static func with(
        _ bundleId: String = ForgeryMaterial.bundleId,
        _ body: @Sendable (SimulatedStore, APIClients) async throws -> Void
    ) async throws {
        let material = try UploadFixture.corpus.get().material
        let store = SimulatedStore(
            app: Simulator.App(
                bundleId: bundleId, appAppleId: ForgeryMaterial.appAppleId, environment: .production),
            signer: NotificationSigner(authority: material.authority, impostor: material.stranger))
        let key = try P256PrivateKey.generate()
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "storekeeper-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try Data(key.pem().utf8).write(to: directory.appendingPathComponent("key.p8"))
        let list = directory.appendingPathComponent("keys.json")
        try Data(#"[{"bundleId":"\#(bundleId)","issuerId":"i","keyId":"KEY1","privateKeyFile":"key.p8"}]"#.utf8)
            .write(to: list)
        let apps = AppRegistry(apps: [AcceptedApp(bundleId: bundleId, appAppleId: ForgeryMaterial.appAppleId)])
        let keys = try APIKeysFile(contentsOf: list.path, apps: apps)
        let verifier = SignedDataVerifier(trust: try material.trust(), apps: apps)
        let accepted = AcceptedKey(issuerId: "i", keyId: "KEY1", publicKey: try key.publicKey())
        try await store.server(accepted).answering(on: "127.0.0.1", port: 0) { port in
            let transport = APITransport()
            let clients = APIClients(
                apps: apps, keys: keys, verifier: verifier, transport: transport,
                clock: APIClock(now: { UploadFixture.now }, random: { 0 }), baseURL: "http://127.0.0.1:\(port)")
            let outcome: Result<Void, any Error>
            do { outcome = .success(try await body(store, clients)) } catch { outcome = .failure(error) }
            try await transport.shutdown()
            try outcome.get()
        }
    }

    private init(app: Simulator.App, signer: NotificationSigner) {
        self.app = app
        self.signer = signer
    }

    private func server(_ key: AcceptedKey) -> StoreServer {
        let deliveryService = DeliveryService(Outbox(plan: Plan(apps: [app], count: 1), now: UploadFixture.now))
        let (keys, faults) = (KeyRing([key]), FaultList())
        let now: @Sendable () -> Date = { UploadFixture.now }
        return StoreServer(
            api: StoreAPI(
                apps: [app], historyStore: historyStore, deliveryService: deliveryService, signer: signer, keys: keys,
                limits: RateLimits(scale: 1000), faults: faults, tokenLife: 3600, present: now, now: now),
            control: ServerControl(
                historyStore: historyStore, deliveryService: deliveryService, keys: keys, keyFiles: nil,
                faults: faults, now: now))
    }

    /// A customer subscribes, some two hours ago.
    /// - Parameter seed: equal ones have equal customers.
    func subscribe(seed: UInt64 = 7, turningRenewalOff: Bool = false) throws -> Bought {
        var random = SeededRandom(seed: seed)
        var identities = Identities(seed: seed, now: UploadFixture.now)
        let customer = Customer(of: app, random: &random, identities: &identities)
        var life = SimulatedPurchase(
            of: customer, timeScale: TimeScale(environment: .production, scale: 1),
            beginning: UploadFixture.now.addingTimeInterval(-7200))
        var payloads: [EventPayload] = []
        for event in [LifecycleEvent.subscribe] + (turningRenewalOff ? [.turnRenewalOff] : []) {
            let date = life.now.addingTimeInterval(600)
            guard
                let payload = life.apply(
                    event, at: date, product: Product.subscriptions[1], identities: &identities)
            else { throw Impossible() }
            historyStore.note(payload)
            payloads.append(payload)
        }
        guard let purchase = payloads.last?.purchase else { throw Impossible() }
        return Bought(
            transactionId: purchase.transactionId, originalTransactionId: purchase.originalTransactionId,
            productId: purchase.product.id(in: app.bundleId), expiresDate: purchase.expiresDate,
            orderId: OrderNumber(transactionId: purchase.transactionId).text,
            signed: try payloads.map { try signer.sign($0) })
    }

    struct Impossible: Error {}
}
