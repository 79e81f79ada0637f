import Foundation
import Logging
import Postgres

/// The databases of a run, all on one server.
struct DatabaseServer {
    let server: String

    func url(_ name: String) -> String {
        guard var parts = URLComponents(string: server) else { return server }
        parts.path = "/" + name
        return parts.string ?? server
    }

    func create(_ name: String) async throws -> String {
        try await administer("create database \(name)")
        return url(name)
    }

    /// No connection to the original may be open.
    func copy(_ original: String, to name: String) async throws {
        try await administer("create database \(name) template \(original)")
    }

    private func administer(_ sql: String) async throws {
        let connection = Self.connection(url("postgres"))
        try await connection.run(unsafeScript: sql)
        await connection.close()
    }

    static func connection(_ url: String, plansOnce: Bool = false) -> PostgresConnection {
        var configuration = PostgresConfiguration(url: url, applicationName: "ledger-benchmark")
        configuration.statementTimeout = nil
        configuration.plansOnce = plansOnce
        return PostgresConnection(configuration, logger: Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() })
    }
}
