import AppStore
import Contracts
import Foundation
import ServerAPI
import Signatures
import TestSupport

@testable import AppStoreSamples
@testable import SimulatedAppStore

/// The simulated App Store with clients of it; what it knows is told by the test.
struct AppleFixture: Sendable {
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

    private let app: SimulatedAppStore.App
    private let appStore: RunningAppStore

    /// - Parameters:
    ///   - bundleId: an app that has an In-App Purchase key, in Production.
    ///   - strangers: apps whose In-App Purchase keys Apple does not know.
    ///   - observe: called after each request to Apple.
    ///   - body: is given clients that trust what the simulator signs.
    static func with(
        _ bundleId: String = ForgeryMaterial.bundleId, strangers: [String] = [],
        observe: @escaping @Sendable (APIAttempt) -> Void = { _ in },
        _ body: @Sendable (AppleFixture, APIClients) async throws -> Void
    ) async throws {
        let material = try UploadFixture.corpus.get().material
        let app = SimulatedAppStore.App(
            bundleId: bundleId, appAppleId: ForgeryMaterial.appAppleId, environment: .production)
        let key = try SimulatedKey("KEY1")
        let apps = AppRegistry(
            apps: [AcceptedApp(bundleId: bundleId, appAppleId: ForgeryMaterial.appAppleId)]
                + strangers.map { AcceptedApp(bundleId: $0, appAppleId: 1) })
        let directory = try TemporaryDirectory()
        let keys = try APIKeysFile(
            contentsOf: try SimulatedKey.write(
                [(bundleId: bundleId, key: key)]
                    + strangers.map { (bundleId: $0, key: try SimulatedKey("KEY-\($0)")) }, to: directory.url),
            apps: apps)
        directory.remove()
        let verifier = SignedDataVerifier(trust: try material.trust(), apps: apps)
        try await RunningAppStore.with(
            [app], keys: [key.accepted],
            signer: NotificationSigner(authority: material.authority, impostor: material.stranger),
            present: { UploadFixture.now }
        ) { appStore in
            let transport = APITransport()
            let clients = APIClients(
                apps: apps, keys: keys, verifier: verifier, transport: transport,
                clock: APIClock(now: { UploadFixture.now }, random: { 0 }), baseURL: appStore.url,
                observe: observe)
            let outcome: Result<Void, any Error>
            do {
                outcome = .success(try await body(AppleFixture(app: app, appStore: appStore), clients))
            } catch {
                outcome = .failure(error)
            }
            try await transport.shutdown()
            try outcome.get()
        }
    }

    /// A customer subscribes, two hours ago.
    /// - Parameter seed: equal ones have equal customers.
    /// - Parameter isOwned: whether Apple's transaction names an account; nil leaves that to the seed.
    func subscribe(seed: UInt64 = 7, turningRenewalOff: Bool = false, isOwned: Bool? = nil) throws -> Bought {
        let customers = (seed...).lazy.map {
            PurchaseFixture(app, seed: $0, beginning: UploadFixture.now.addingTimeInterval(-3 * 3600))
        }
        guard
            var customer = customers.first(where: { customer in
                isOwned.map { $0 == (customer.simulated.customer.appAccountToken != nil) } ?? true
            })
        else { throw Impossible() }
        let payloads = ([.subscribe] + (turningRenewalOff ? [.turnRenewalOff] : [])).map { customer.next($0) }
        for payload in payloads { appStore.historyStore.note(payload) }
        guard let purchase = payloads.last?.purchase else { throw Impossible() }
        return Bought(
            transactionId: purchase.transactionId, originalTransactionId: purchase.originalTransactionId,
            productId: purchase.product.id(in: app.bundleId), expiresDate: purchase.expiresDate,
            orderId: OrderNumber(transactionId: purchase.transactionId).text,
            signed: try payloads.map { try appStore.signer.sign($0) })
    }

    struct Impossible: Error {}
}
