import Foundation
import TestSupport
import Testing

@testable import Chassis

@Suite struct SecretTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func read(_ contents: String?) throws -> Result<Secret, ConfigurationProblem> {
        let file = directory.url("key")
        try? FileManager.default.removeItem(at: file)
        if let contents { try directory.write("key", contents) }
        return Result { () throws(ConfigurationProblem) in
            try Variable.secretFile("KEY_FILE", "the key").read(EnvironmentReader(["KEY_FILE": file.path]))
        }
    }

    @Test func `Secret is the file's content without the line break at the end`() throws {
        #expect(try read("hush\r\n").get().revealedBytes == Array("hush".utf8))
        #expect(try read(" two\nlines \n").get().revealedBytes == Array(" two\nlines ".utf8))
    }

    @Test func `Secret file that is missing or empty is a problem that names the variable and the file`() throws {
        #expect(throws: ConfigurationProblem.self) { try read("\n").get() }
        guard case .failure(let problem) = try read(nil) else {
            Issue.record("a missing file was read")
            return
        }
        #expect(problem.description.hasPrefix("KEY_FILE names \(directory.path)/key, which cannot be read"))
    }

    @Test func `Secret never prints`() {
        let secret = Secret(revealing: Array("hush".utf8))
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped, "\([secret])"] {
            #expect(!text.contains("hush"))
            #expect(!text.contains("104"))
        }
    }

    @Test(arguments: [
        ("postgres://me:hush@host/db", "postgres://me:(hidden)@host/db"),
        ("postgres://me@host/db", "postgres://me@host/db"),
        ("http://host:80/a@b", "http://host:80/a@b"), ("me:hush@host", "(hidden)"),
        ("postgres://me:hu/sh@host/db", "(hidden)"),
        ("postgres://me:h@sh@host/db", "postgres://me:(hidden)@host/db"),
        ("host=db user=me password=hush", "(hidden)"), ("host=db PASSWORD = hush", "(hidden)"),
        ("postgres://host/db?user=me&password=hush", "(hidden)"), ("/secrets/password", "/secrets/password"),
    ])
    func `Password is hidden wherever a setting is shown`(text: String, shown: String) {
        #expect(Redaction.withoutPassword(text) == shown)
    }
}
