import Chassis
import Storage
import StrictJSON
import Subscriptions

import struct Foundation.Date

/// What an app calls the things that its products give.
struct DefinitionHandlers: Sendable {
    private let database: Database
    private let definitions: DefinitionTable
    private let clock: ProcessClock

    init(_ dependencies: Dependencies) {
        database = dependencies.database
        definitions = dependencies.definitions
        clock = dependencies.clock
    }

    /// `GET /v1/entitlement-definitions`
    func list(_ request: APIRequest) async throws -> APIResponse {
        let bundleId = try request.app()
        let current = try await database.withConnection { try await EntitlementDefinitionStore($0).current() }
        let durations = try await durations(of: bundleId)
        return APIResponse { json in
            json.objects("data", of: current.all(of: bundleId, in: request.key.environment)) { json, definition in
                definition.write(to: &json, durations)
            }
        }
    }

    /// The most versions of a definition in an answer; a definition may have any number.
    static let mostVersions: Int64 = 100

    /// `GET /v1/entitlement-definitions/{name}`: with its versions.
    func get(_ request: APIRequest) async throws -> APIResponse {
        let (bundleId, name) = (try request.app(), request.parameter("name"))
        let versions = try await database.withConnection { connection in
            try await EntitlementDefinitionStore(connection).versions(
                of: name, bundleId, in: request.key.environment, limit: Self.mostVersions)
        }
        guard let newest = versions.first else {
            throw Problem(
                .notFound, "The app has no definition of \(name) in \(request.key.environment.rawValue); PUT it first.")
        }
        let durations = try await durations(of: bundleId)
        return APIResponse { json in
            newest.write(to: &json, durations)
            json.objects("versions", of: versions) { json, version in
                version.write(to: &json, durations)
            }
        }
    }

    /// `PUT /v1/entitlement-definitions/{name}`
    func put(_ request: APIRequest) async throws -> APIResponse {
        let (bundleId, body) = (try request.app(), request.body?.root)
        let products = Set((body?["productIds"]?.elements ?? []).compactMap(\.string)).sorted()
        let durations = try Self.durations(body?["durations"]?.elements ?? [], of: products, request)
        let definition = EntitlementDefinition(
            environment: request.key.environment, bundleId: bundleId, name: request.parameter("name"),
            productIds: products, originalApplicationVersionBefore: body?["originalApplicationVersionBefore"]?.string,
            createdAt: clock.now(), createdBy: request.key.id)
        let performer = try request.performer(at: clock.now())
        let stored: EntitlementDefinition
        do {
            stored = try await database.withConnection { connection in
                try await EntitlementDefinitionStore(connection).put(definition, durations: durations) {
                    products, added in
                    let changed = products.map { product in
                        performer.action(
                            "products durations \((durations[product] ?? nil)?.description ?? "none")",
                            on: "\(bundleId) \(product)")
                    }
                    guard let added else { return changed }
                    return changed + [
                        performer.action(
                            "entitlements define", on: "\(bundleId) \(added.name) version \(added.version)",
                            about: OperatorAction.About(added.environment, bundleId, account: nil))
                    ]
                }
            }
        } catch is EntitlementDefinitionStore.Full {
            throw Problem(
                .conflict,
                """
                An app has at most \(EntitlementDefinitionStore.Full.names) entitlement definitions in an environment, with \
                \(EntitlementDefinitionStore.Full.characters) characters of product ids in all; change one of those that it has.
                """)
        }
        try await definitions.turn()
        let inForce = try await self.durations(of: bundleId)
        return APIResponse { json in stored.write(to: &json, inForce) }
    }

    /// The durations to set, by product; nil makes one unknown.
    private static func durations(
        _ items: [JSONValue], of products: [String], _ request: APIRequest
    ) throws(Problem) -> [String: ProductDuration?] {
        guard !items.isEmpty else { return [:] }
        guard request.key.environment == .production else {
            throw Problem(
                .wrongEnvironment,
                """
                A duration holds in all environments: send "durations" with a production key, or leave it out and let an \
                operator run storekeeper products durations.
                """)
        }
        var durations: [String: ProductDuration?] = [:]
        var faults: [ValueFault] = []
        for (index, item) in items.enumerated() {
            func fault(_ member: String, _ detail: String) {
                faults.append(ValueFault(pointer: "/durations/\(index)/\(member)", detail: detail))
            }
            let product = item["productId"]?.string ?? ""
            let text = item["duration"]?.string
            let duration = text.flatMap(ProductDuration.init)
            if durations.keys.contains(product) { fault("productId", "occurs twice") }
            if !products.contains(product) { fault("productId", "is not in productIds") }
            if text != nil, duration == nil {
                fault("duration", "must be one number and one unit, such as PT12H, P30D, P2W, P1M or P1Y, or null")
            }
            durations.updateValue(duration, forKey: product)
        }
        guard faults.isEmpty else {
            throw Problem(.invalidRequest, "Some durations cannot be set; correct them and send all.", faults: faults)
        }
        return durations
    }

    /// The durations of non-renewing products in force, by product.
    private func durations(of bundleId: String) async throws -> [String: ProductDuration] {
        try await database.withConnection { try await ProductStore($0).durations(configuredFor: bundleId) }
    }
}

extension EntitlementDefinition {
    fileprivate func write(to json: inout JSONWriter, _ durations: [String: ProductDuration]) {
        json.member("name", name)
        json.member("bundleId", bundleId)
        json.member("version", version)
        json.strings("productIds", of: productIds)
        json.objects("durations", of: productIds.filter { durations[$0] != nil }) { json, id in
            json.member("productId", id)
            json.member("duration", durations[id]?.description)
        }
        json.member("originalApplicationVersionBefore", originalApplicationVersionBefore)
        json.member("createdAt", createdAt.milliseconds)
        json.member("createdBy", createdBy.uuidString.lowercased())
    }
}
