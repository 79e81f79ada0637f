import AppStore
import Development
import Signatures

import struct Foundation.Date

/// Genuine notifications about many purchases of one app, one after the other: what a benchmark verifies and stores.
package struct GenuineNotifications: Sendable {
    /// The one that signs them.
    package let authority: DevelopmentAuthority
    private let app = App(bundleId: "com.example.app", appAppleId: 1_234_567_890, environment: .production)
    private let signer: NotificationSigner
    private let now: Date
    private var population: Population

    /// - Parameters:
    ///   - purchases: number of concurrent ones, at least one.
    ///   - now: nothing is signed after it.
    /// - Throws: if OpenSSL cannot make certificates.
    package init(purchases: Int, now: Date) throws {
        authority = try DevelopmentAuthority(now: now)
        signer = NotificationSigner(authority: authority, impostor: authority)
        self.now = now
        population = Population(apps: [app], size: purchases, seed: 1, now: now)
    }

    /// The compact JWS of the next one.
    /// - Throws: if OpenSSL cannot sign.
    package mutating func next() throws -> [UInt8] { try signer.sign(population.next(now: now)) }

    /// The next one with three signatures: its own, and those of a transaction and of renewal info.
    /// - Throws: if OpenSSL cannot sign.
    package mutating func nextOfSubscription() throws -> [UInt8] {
        var event = population.next(now: now)
        while event.shownPurchase == nil || event.renewal == nil { event = population.next(now: now) }
        return try signer.sign(event)
    }

    /// A verifier of the app that trusts the authority and has proven nothing yet.
    /// - Throws: if the root of the authority is no certificate.
    package func verifier() throws -> SignedDataVerifier {
        SignedDataVerifier(
            trust: try TrustStore.apple.adding(rootsIn: Array(authority.rootPEM.utf8)),
            apps: AppRegistry(apps: [AcceptedApp(bundleId: app.bundleId, appAppleId: app.appAppleId)]))
    }
}
