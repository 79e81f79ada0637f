import Foundation
import Signatures
import TestSupport
import Testing

@testable import AppStore
@testable import ServerAPI

@Suite struct APIKeysFileTests {
    private static let apps = AppRegistry(apps: [
        AcceptedApp(bundleId: "a", appAppleId: 1), AcceptedApp(bundleId: "b", appAppleId: 2),
    ])

    private static func problems(_ json: String, pem: String?) -> [String] {
        do throws(APIKeysFileFault) {
            _ = try APIKeysFile(Array(json.utf8), apps: apps) { _ in pem }
            return []
        } catch {
            return error.problems
        }
    }

    @Test func `Two keys of an app stay in their order, beside those of other apps`() throws {
        let folder = try TemporaryDirectory()
        defer { folder.remove() }
        try FileManager.default.createDirectory(at: folder.url("keys"), withIntermediateDirectories: true)
        let one = try P256PrivateKey.generate()
        let two = try P256PrivateKey.generate()
        try folder.write("keys/one.p8", one.pem())
        try folder.write("two.p8", two.pem())
        let json = """
            [{"bundleId": "a", "issuerId": "i", "keyId": "K1", "privateKeyFile": "keys/one.p8"},
             {"bundleId": "a", "issuerId": "j", "keyId": "K2", "privateKeyFile": "two.p8"},
             {"bundleId": "b", "issuerId": "i", "keyId": "K1", "privateKeyFile": "\(folder.path)/two.p8"}]
            """
        let path = try folder.write("keys.json", json)
        let file = try APIKeysFile(contentsOf: path, apps: Self.apps)
        let keys = try #require(file.credentials["a"]).keys
        #expect(keys.map(\.keyId) == ["K1", "K2"] && keys.map(\.issuerId) == ["i", "j"])
        #expect(try keys[0].privateKey.publicKey().uncompressedPoint == one.publicKey().uncompressedPoint)
        #expect(try keys[1].privateKey.publicKey().uncompressedPoint == two.publicKey().uncompressedPoint)
        let other = try #require(file.credentials["b"]?.keys.first)
        #expect(try other.privateKey.publicKey().uncompressedPoint == two.publicKey().uncompressedPoint)
    }

    @Test(arguments: [
        ("", "it is not valid JSON"),
        ("[]", "it has to be a JSON array of at least one key"),
        ("[1]", "key 1: it has to be an object"),
        (#"[{"bundleId":"a","issuerId":"i","keyId":"k"}]"#, "key 1: privateKeyFile has to be a text"),
        (
            #"[{"bundleId":"a","issuerId":"i","keyId":"k","privateKeyFile":"f","key":"x"}]"#,
            "key 1: key is not a field"
        ),
        (
            #"[{"bundleId":"c","issuerId":"i","keyId":"k","privateKeyFile":"f"}]"#,
            "key 1: c is not in the file of apps"
        ),
        (
            #"[{"bundleId":"a","issuerId":"i","keyId":"k","privateKeyFile":"f"},"#
                + #"{"bundleId":"a","issuerId":"i","keyId":"k","privateKeyFile":"g"}]"#,
            "key 2: k is listed twice for a"
        ),
    ])
    func `Mistake is named with its entry`(json: String, problem: String) throws {
        let problems = Self.problems(json, pem: try P256PrivateKey.generate().pem())
        #expect(problems.count == 1 && problems[0].hasPrefix(problem), "\(problems)")
    }

    @Test func `Mistakes are reported all together`() throws {
        let json = #"[{"bundleId":"","issuerId":1},{"bundleId":"c","issuerId":"i","keyId":"k","privateKeyFile":"f"}]"#
        #expect(Self.problems(json, pem: try P256PrivateKey.generate().pem()).count == 5)
    }

    @Test func `Key that every user may write is rejected with its mode`() throws {
        let folder = try TemporaryDirectory()
        defer { folder.remove() }
        let key = try folder.write("one.p8", P256PrivateKey.generate().pem())
        let json = #"[{"bundleId": "a", "issuerId": "i", "keyId": "K1", "privateKeyFile": "one.p8"}]"#
        let path = try folder.write("keys.json", json)
        try FileManager.default.setAttributes([.posixPermissions: 0o646], ofItemAtPath: key)
        do throws(APIKeysFileFault) {
            _ = try APIKeysFile(contentsOf: path, apps: Self.apps)
            Issue.record("a key of mode 646 was read")
        } catch {
            #expect(error.problems.count == 1 && error.problems[0].contains("\(key) (mode 646); chmod 600 it"))
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: key)
        #expect(try APIKeysFile(contentsOf: path, apps: Self.apps).credentials["a"]?.keys.count == 1)
    }

    @Test(arguments: [(0o644, true), (0o604, true), (0o640, false), (0o600, false), (0o440, false)])
    func `Key that every user may read is used, with a warning that says what to do`(mode: Int, isWarned: Bool) throws {
        let folder = try TemporaryDirectory()
        defer { folder.remove() }
        let key = try folder.write("one.p8", P256PrivateKey.generate().pem())
        let json = #"[{"bundleId": "a", "issuerId": "i", "keyId": "K1", "privateKeyFile": "one.p8"}]"#
        let path = try folder.write("keys.json", json)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: key)
        let file = try APIKeysFile(contentsOf: path, apps: Self.apps)
        #expect(file.credentials["a"]?.keys.count == 1)
        let warning =
            "every user of the machine may read the private key \(key) (mode \(String(mode, radix: 8))); chmod 600 it"
        #expect(file.warnings.count == (isWarned ? 1 : 0))
        #expect(file.warnings.allSatisfy { $0.hasPrefix(warning) })
    }

    @Test func `Key that cannot be used is named by its file, without its content`() {
        let json = #"[{"bundleId":"a","issuerId":"i","keyId":"k","privateKeyFile":"f.p8"}]"#
        #expect(
            Self.problems(json, pem: nil) == [
                "key 1: f.p8 cannot be read; check that it is there and that this user may read it"
            ])
        let broken = Self.problems(json, pem: "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n")
        #expect(broken == ["key 1: f.p8 is not a private key on P-256 in PEM, as App Store Connect gives it out"])
        #expect(throws: APIKeysFileFault.self) {
            _ = try APIKeysFile(contentsOf: "/nonexistent/keys.json", apps: Self.apps)
        }
    }
}
