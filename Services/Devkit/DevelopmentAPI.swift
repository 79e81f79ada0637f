import Contracts
import Foundation

/// The API of a development run: where it answers, and a key for each environment.
struct DevelopmentAPI: Sendable {
    /// The app of the documentation's examples: with a key for one app no request has to name it.
    private static let exampleBundleId = "com.example.app"
    /// The first is for ever, because the sandbox ends every subscription after twelve renewals.
    private static let exampleProducts = ["filters.unlocked", "premium.yearly"]
    /// The account of the documentation's examples.
    static let account = "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b"

    /// Base URL.
    let address: String
    let keys: [StoreEnvironment: String]
    /// The app that the keys are for.
    let bundleId: String
    /// What the customer of the examples has bought.
    let products: [String]
    /// Nil without one.
    let catalogue: OwnCatalogue?

    /// Makes the keys.
    init(address: String, catalogue: OwnCatalogue?, databaseURL: String, now: Date) async throws {
        self.address = address
        self.catalogue = catalogue
        let bundleId = catalogue?.apps[0].bundleId ?? Self.exampleBundleId
        self.bundleId = bundleId
        products = catalogue?.shown ?? Self.exampleProducts
        let environments = catalogue?.plans[0].environments ?? [.sandbox, .production]
        var keys: [StoreEnvironment: String] = [:]
        for environment in environments {
            keys[environment] = try await DevelopmentKey(
                databaseURL: databaseURL, environment: environment, bundleIds: [bundleId], now: now
            ).create()
        }
        self.keys = keys
    }

    /// What the command lines of the documentation use.
    var variables: [String: String] {
        var variables = ["API": address, "TOKEN": Self.account]
        variables["KEY"] = keys[.sandbox]
        variables["LIVE_KEY"] = keys[.production]
        return variables
    }

    /// URL of what an account may use.
    func entitlements(of account: String) -> String { "\(address)/v1/accounts/\(account)/entitlements" }
}
