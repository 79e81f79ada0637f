import Commands
import Contracts
import Foundation
import StrictJSON

/// Customers of a development run whose purchases are valid now, so that the first question has the answer yes.
///
/// The random purchases of the simulator began weeks ago, and most of those in the sandbox are over.
struct LivingCustomers: Sendable {
    private static let tick: Duration = .milliseconds(200)
    private static let patience: Duration = .seconds(60)

    let control: SimulatorControl
    let api: DevelopmentAPI
    let show: LiveDisplay

    /// Buys in both environments, waits until the API knows, and says how to ask.
    /// - Throws: `CommandError` where the simulator refuses, or the API does not know within a minute.
    func begin() async throws {
        let environments = [StoreEnvironment.sandbox, .production].filter { api.keys[$0] != nil }
        for environment in environments {
            for product in api.products {
                try await buy(product, in: environment)
            }
        }
        for environment in environments {
            guard let key = api.keys[environment] else { continue }
            let count = try await entitlements(key)
            show.say(
                "\(environment.rawValue) has a customer who may use \(count) products now. Ask what, until when and why:"
            )
            show.say("  curl -H 'Authorization: Bearer \(key)' '\(api.entitlements(of: DevelopmentAPI.account))'")
        }
    }

    private func buy(_ product: String, in environment: StoreEnvironment) async throws {
        let body = """
            {"productId": "\(product)", "bundleId": "\(api.bundleId)", \
            "environment": "\(environment.rawValue)", "appAccountToken": "\(DevelopmentAPI.account)"}
            """
        let answer = try await eventually("The simulator did not answer") {
            try? await HTTPPage(at: control.address + "/simulator/purchases", posting: Array(body.utf8))
        }
        guard answer.status == 201 else { throw CommandError("the simulator sold no \(product): \(answer.text)") }
    }

    /// Waits for all that was bought.
    /// - Returns: the number of products that the customer may use.
    private func entitlements(_ key: String) async throws -> Int {
        try await eventually("The API did not show the customers of this run as entitled") {
            let page = try? await HTTPPage(at: api.entitlements(of: DevelopmentAPI.account), bearer: key)
            guard let page, page.status == 200, let root = try? JSONDocument(Array(page.text.utf8)).root else {
                return nil
            }
            let count = root["entitlements"]?.elements.count ?? 0
            return count >= api.products.count ? count : nil
        }
    }

    private func eventually<Value>(_ problem: String, _ ask: () async throws -> Value?) async throws -> Value {
        let clock = ContinuousClock()
        let deadline = clock.now + Self.patience
        while clock.now < deadline {
            if let value = try await ask() { return value }
            try await clock.sleep(for: Self.tick)
        }
        throw CommandError("\(problem) within \(Int(Self.patience.seconds)) s; read the logs of the services")
    }
}
