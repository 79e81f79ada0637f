import Contracts
import Foundation
import StrictJSON

/// What the simulated apps sell: the products of this project's example apps, or those of a developer's file.
struct Catalogue: Sendable {
    /// An app of a file.
    struct OwnApp: Sendable, Equatable {
        var bundleId: String
        var appAppleId: Int64
        var environments: [StoreEnvironment]
        var products: [Product]
    }

    private static let appMembers = ["bundleId", "appAppleId", "environments", "products"]
    private static let productMembers = [
        "productId", "type", "subscriptionGroupIdentifier", "level", "period", "price",
    ]

    /// Empty without a file.
    var own: [OwnApp] = []

    init() {}

    /// - Throws: ``SimulatorError`` that names the place of the first mistake, and what is allowed there.
    init(json: [UInt8]) throws {
        guard let root = try? JSONDocument(json).root, let apps = root["apps"], apps.kind == .array else {
            throw SimulatorError(#"it is no JSON object like {"apps": [{"bundleId": …, "products": […]}]}"#)
        }
        for (index, app) in apps.elements.enumerated() { own.append(try Self.app(app, at: "apps[\(index)]")) }
        guard !own.isEmpty else { throw SimulatorError("apps is empty") }
        guard Set(own.map(\.bundleId)).count == own.count else { throw SimulatorError("a bundleId occurs twice") }
    }

    /// What an app sells.
    func products(in bundleId: String) -> [Product] { own.first { $0.bundleId == bundleId }?.products ?? Product.all }

    /// Whether the app is a developer's own, in which no random customer buys.
    func isOwn(_ app: App) -> Bool { own.contains { $0.bundleId == app.bundleId } }

    /// - Parameter name: the product id, or its end after the bundle id.
    /// - Throws: ``SimulatorError`` that names those that exist.
    func product(_ name: String, in bundleId: String) throws -> Product {
        let products = products(in: bundleId)
        if let product = products.first(where: {
            $0.id(in: bundleId) == name || "\(bundleId).\(name)" == $0.id(in: bundleId)
        }) {
            return product
        }
        throw SimulatorError(
            "\(bundleId) sells no \(name); it sells \(products.map { $0.id(in: bundleId) }.joined(separator: ", "))")
    }

    private static func app(_ json: JSONValue, at place: String) throws -> OwnApp {
        try check(json, appMembers, at: place)
        let bundleId = try text("bundleId", of: json, at: place)
        guard let number = json["appAppleId"]?.int64, number > 0 else {
            throw SimulatorError("\(place).appAppleId is no positive number: App Store Connect shows it as Apple ID")
        }
        var environments: [StoreEnvironment] = [.production, .sandbox]
        if let named = json["environments"] {
            environments = try named.elements.map { element in
                guard let environment = element.string.flatMap(StoreEnvironment.init(rawValue:)) else {
                    throw SimulatorError(
                        "\(place).environments names none of "
                            + StoreEnvironment.allCases.map(\.rawValue).joined(separator: ", "))
                }
                return environment
            }
            guard !environments.isEmpty else { throw SimulatorError("\(place).environments is empty") }
        }
        var products: [Product] = []
        for (index, product) in (json["products"]?.elements ?? []).enumerated() {
            products.append(try Self.product(product, at: "\(place).products[\(index)]"))
        }
        guard !products.isEmpty else { throw SimulatorError("\(place).products is missing or empty") }
        guard Set(products.map(\.suffix)).count == products.count else {
            throw SimulatorError("\(place).products has a productId twice")
        }
        return OwnApp(bundleId: bundleId, appAppleId: number, environments: environments, products: products)
    }

    private static func product(_ json: JSONValue, at place: String) throws -> Product {
        try check(json, productMembers, at: place)
        let id = try text("productId", of: json, at: place)
        let type = try text("type", of: json, at: place)
        let kinds = Product.Kind.allCases.filter { $0 != .unknown }
        guard let kind = kinds.first(where: { $0.typeName == type }) else {
            throw SimulatorError("\(place).type \(type) is none of \(kinds.map(\.typeName).joined(separator: ", "))")
        }
        guard let price = json["price"]?.int64, price >= 0 else {
            throw SimulatorError("\(place).price is no whole number of milliunits: 9990 is 9.99")
        }
        var product = Product(kind: kind, suffix: id, price: price)
        product.hasOwnId = true
        guard kind == .autoRenewable else { return product }
        product.group = try text("subscriptionGroupIdentifier", of: json, at: place)
        guard let period = try Product.Period(rawValue: text("period", of: json, at: place)) else {
            throw SimulatorError(
                "\(place).period is none of \(Product.Period.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        product.period = period
        product.level = json["level"]?.int64.map { Int($0) } ?? 1
        return product
    }

    private static func check(_ json: JSONValue, _ members: [String], at place: String) throws {
        for (name, _) in json.members where !members.contains(name) {
            throw SimulatorError("\(place) has no member \(name); its members are \(members.joined(separator: ", "))")
        }
    }

    private static func text(_ name: String, of json: JSONValue, at place: String) throws -> String {
        guard let text = json[name]?.string, !text.isEmpty else { throw SimulatorError("\(place).\(name) is missing") }
        return text
    }
}
