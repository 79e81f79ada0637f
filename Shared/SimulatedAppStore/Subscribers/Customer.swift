import AppStore
import Contracts

import struct Foundation.Date
import struct Foundation.UUID

/// An app in one of Apple's environments.
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

/// The buyer, or a person with shared access: what stays the same through all renewals.
struct Customer: Sendable, Equatable {
    enum Ownership: Sendable, Equatable {
        case purchased, familyShared
        /// A seat of another customer's volume purchase.
        case assigned

        var type: InAppOwnershipType {
            switch self {
            case .purchased: .purchased
            case .familyShared: .familyShared
            case .assigned: .assigned
            }
        }
    }

    /// What developers report of test accounts in the sandbox.
    enum SandboxQuirk: Sendable, Equatable {
        /// Automatic renewal cannot be turned off.
        case cannotCancel
        /// Charges fail after so many transactions of the account.
        case renewalsFail(after: Int)

        /// As `simulator buy` names them.
        static let named = ["cannotCancel": Self.cannotCancel, "cannotRenew": .renewalsFail(after: 0)]
    }

    var app: App
    var storefront: Storefront
    /// Nil where the app sets none, and for customers who did not buy.
    var appAccountToken: UUID?
    /// One per Apple account and app: several purchases of one account share it.
    var appTransactionId: String
    var ownership = Ownership.purchased
    var quirk: SandboxQuirk?
    /// When the customer ordered the app before its release; nil where not.
    var preorderDate: Date?

    init(of app: App, random: inout SeededRandom, identities: inout Identities) {
        self.app = app
        storefront = random.element(of: Storefront.all)
        let token = identities.uuid()
        appAccountToken = random.chance(0.85) ? token : nil
        appTransactionId = identities.appTransactionId()
    }

    /// Another customer who has access without buying.
    func sharing(_ ownership: Ownership, identities: inout Identities) -> Customer {
        var other = self
        other.ownership = ownership
        other.appAccountToken = nil
        other.appTransactionId = identities.appTransactionId()
        other.preorderDate = nil
        return other
    }
}
