import Contracts
import Foundation
import Logging
import Postgres
import Storage

/// An API key for a development run, made at every start.
struct DevelopmentKey: Sendable {
    var databaseURL: String
    var environment = StoreEnvironment.sandbox
    /// Apps that it is for; none is all.
    var bundleIds: [String] = []
    var now: Date

    /// - Returns: the key. It ends after two years: `simulator clock advance` may pass more than one of them.
    func create() async throws -> String {
        let secret = ClientKeySecret(environment: environment, random: (0..<32).map { _ in .random(in: 0...255) })
        let connection = PostgresConnection(
            PostgresConfiguration(url: databaseURL, applicationName: "storekeeper dev"), logger: .silent)
        try await ClientKeyStore(connection).add(
            ClientKey(
                id: UUID(), name: "storekeeper dev", environment: environment,
                scopes: Set(APIScope.allCases).subtracting([.purchasesAssign]),
                bundleIds: bundleIds, digest: secret.digest, createdAt: now,
                expiresAt: now.addingTimeInterval(2 * 366 * 86_400)))
        await connection.close()
        return secret.text
    }
}
