import Contracts

import struct Foundation.UUID

/// One of our apps in one of Apple's environments.
struct App: Sendable, Hashable {
    var bundleId: String
    var appAppleId: Int64
    var environment: StoreEnvironment
}

/// Where a customer's account is registered.
struct Storefront: Sendable, Equatable {
    /// ISO 3166-1 alpha-3.
    var country: String
    var id: String
    /// ISO 4217.
    var currency: String

    static let all = [
        Storefront(country: "USA", id: "143441", currency: "USD"),
        Storefront(country: "DEU", id: "143443", currency: "EUR"),
        Storefront(country: "FRA", id: "143442", currency: "EUR"),
        Storefront(country: "GBR", id: "143444", currency: "GBP"),
        Storefront(country: "JPN", id: "143462", currency: "JPY"),
        Storefront(country: "BRA", id: "143503", currency: "BRL"),
    ]
}

/// Who buys: what stays the same through a simulated.
struct Customer: Sendable, Equatable {
    var app: App
    var storefront: Storefront
    /// Nil for those whose app never set one.
    var appAccountToken: UUID?
    var appTransactionId: String

    init(of app: App, random: inout SeededRandom, identities: inout Identities) {
        self.app = app
        storefront = random.element(of: Storefront.all)
        let token = identities.uuid()
        appAccountToken = random.chance(0.85) ? token : nil
        appTransactionId = identities.appTransactionId()
    }
}
