import Commands
import Contracts
import Foundation

/// A developer's file of apps and products, as far as a development run needs it; the simulator checks the rest.
struct OwnCatalogue: Sendable, Decodable {
    struct App: Sendable, Decodable {
        struct Product: Sendable, Decodable {
            var productId: String
            var type: String
            var subscriptionGroupIdentifier: String?
        }

        var bundleId: String
        var appAppleId: Int64
        /// Nil is both.
        var environments: [String]?
        var products: [Product]
    }

    var apps: [App]
    /// Absolute path.
    var file = ""

    private enum CodingKeys: String, CodingKey { case apps }

    /// - Throws: `CommandError` where the file cannot be read or is no such catalogue.
    init(file: String) throws {
        guard let data = FileManager.default.contents(atPath: file) else {
            throw CommandError("\(file) cannot be read; --catalogue needs a file with apps and their products")
        }
        do { self = try JSONDecoder().decode(OwnCatalogue.self, from: data) } catch {
            throw CommandError(
                "\(file) is no catalogue; `simulator run --help` shows its form under --catalogue (\(error))")
        }
        guard !apps.isEmpty else { throw CommandError("\(file) has no apps; add one with its products") }
        self.file = file
    }

    var plans: [ProcessPlan.App] {
        apps.map { app in
            let environments = app.environments?.compactMap { StoreEnvironment(rawValue: $0) }
            return ProcessPlan.App(
                bundleId: app.bundleId, appAppleId: app.appAppleId,
                environments: environments ?? [.production, .sandbox])
        }
    }

    /// Products of the first app that give access and can all be bought by one customer: two at most.
    var shown: [String] {
        var groups: Set<String> = []
        return Array(
            apps[0].products.filter { product in
                product.type != "Consumable"
                    && (product.subscriptionGroupIdentifier.map { groups.insert($0).inserted } ?? true)
            }.prefix(2).map(\.productId))
    }
}
