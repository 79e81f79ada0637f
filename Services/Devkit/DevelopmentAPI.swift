import Contracts
import Foundation

/// The API of a development run: where it answers, and a key for each environment.
struct DevelopmentAPI: Sendable {
    /// The app of the documentation's examples: with a key for one app no request has to name it.
    static let bundleId = "com.example.app"
    /// The account of the documentation's examples.
    static let account = "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b"

    /// Base URL.
    let address: String
    let keys: [StoreEnvironment: String]

    /// Makes the keys.
    init(address: String, databaseURL: String, now: Date) async throws {
        self.address = address
        var keys: [StoreEnvironment: String] = [:]
        for environment in [StoreEnvironment.sandbox, .production] {
            keys[environment] = try await DevelopmentKey(
                databaseURL: databaseURL, environment: environment, bundleIds: [Self.bundleId], now: now
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
