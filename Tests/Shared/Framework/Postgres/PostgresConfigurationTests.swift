import Foundation
import TestSupport
import Testing

@testable import Postgres

@Suite struct PostgresConfigurationTests {
    @Test func `PostgresConfiguration never prints a secret`() {
        let configuration = PostgresConfiguration(
            url: "postgres://user:sesame@db.example/x", applicationName: "verifier")
        #expect(!"\(configuration)".contains("sesame"))
        #expect("\(configuration)".contains("verifier"))
    }

    @Test func `Password file outweighs the URL and loses its newline`() throws {
        let temporary = try TemporaryDirectory()
        let directory = temporary.path
        try Data("sesame\n".utf8).write(to: URL(fileURLWithPath: directory + "/password"))
        let configuration = PostgresConfiguration(
            url: "postgres://u:old@h/d", applicationName: "x", passwordFile: directory + "/password")
        let parameters = try configuration.connectionParameters()
        let url = try #require(parameters.firstIndex { $0.keyword == "dbname" })
        let password = try #require(parameters.firstIndex { $0.keyword == "password" })
        #expect(parameters[password].value == "sesame")
        #expect(url < password)
    }

    @Test func `Missing or empty password file is an operator's task`() throws {
        let missing = PostgresConfiguration(url: "", applicationName: "x", passwordFile: "/nowhere/password")
        let error = #expect(throws: PostgresError.self) { try missing.connectionParameters() }
        #expect(error?.meaning == .notPermitted)
        #expect(error?.message.contains("/nowhere/password") == true)
    }

    @Test(arguments: ["", "Public", "a b", "a\"b", "1a", "a;drop table x", "a,b"])
    func `Schema is one plain identifier`(schema: String) {
        let configuration = PostgresConfiguration(url: "", applicationName: "x", schema: schema)
        #expect(throws: PostgresError.self) { try configuration.sessionSettings() }
    }

    @Test func `Timeout never becomes zero, which would mean none`() throws {
        let configuration = PostgresConfiguration(
            url: "", applicationName: "x", statementTimeout: .microseconds(1), lockTimeout: nil)
        let settings = try configuration.sessionSettings()
        #expect(settings.contains { $0 == ("statement_timeout", "1") })
        #expect(!settings.contains { $0.name == "lock_timeout" })
    }
}
