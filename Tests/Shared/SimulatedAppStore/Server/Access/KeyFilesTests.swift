import AppStore
import Foundation
import ServerAPI
import Signatures
import StrictJSON
import TestSupport
import Testing

@testable import SimulatedAppStore

@Suite struct KeyFilesTests {
    @Test func `Key that the first start creates is found by the second, and by clients through api-keys.json`()
        throws
    {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let made = try KeyFiles(directory: directory.url, bundleIds: ["com.example.app"]).loadOrCreate()
        let found = try KeyFiles(directory: directory.url, bundleIds: ["com.example.app", "b"]).loadOrCreate()
        #expect(made.map(\.keyId) == found.map(\.keyId))
        #expect(made.map(\.publicKey.uncompressedPoint) == found.map(\.publicKey.uncompressedPoint))
        let apps = AppRegistry(apps: ["com.example.app", "b"].map { AcceptedApp(bundleId: $0, appAppleId: 1) })
        let list = try APIKeysFile(contentsOf: directory.path("api-keys.json"), apps: apps)
        #expect(Set(list.credentials.keys) == ["com.example.app", "b"])
    }

    @Test func `Key list names every simulated app once, those of a catalogue too`() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let json = #"""
            {"apps": [{"bundleId": "com.example.mine", "appAppleId": 7, "products": [
            {"productId": "coins", "type": "Consumable", "price": 990}]}]}
            """#
        let apps = try SigningOptions.parse(["--authority", "here"]).apps(
            with: try Catalogue(json: Array(json.utf8)))
        _ = try KeyFiles(directory: directory.url, apps: apps).loadOrCreate()
        let list = try JSONDocument(Array(try Data(contentsOf: directory.url.appendingPathComponent("api-keys.json"))))
        #expect(apps.count == 2)
        #expect(list.root.elements.map { $0["bundleId"]?.string } == ["com.example.mine"])
    }

    @Test func `Key file is readable by its owner only, and a removed key is off the list`() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let files = KeyFiles(directory: directory.url, bundleIds: ["com.example.app"])
        let first = try #require(try files.loadOrCreate().first)
        let second = try files.add()
        let attributes = try FileManager.default.attributesOfItem(
            atPath: directory.path("AuthKey_\(second.keyId).p8"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try files.loadOrCreate().map(\.keyId) == [first.keyId, second.keyId])
        try files.remove(first.keyId)
        #expect(try files.loadOrCreate().map(\.keyId) == [second.keyId])
    }

    @Test func `Own key is read, and a file that is no key is an error`() throws {
        let key = try P256PrivateKey.generate()
        let pem = try key.pem()
        let read = try AcceptedKey(describedBy: "issuer:KEY:/some:where.p8") { path in
            #expect(path == "/some:where.p8")
            return pem
        }
        #expect(read.issuerId == "issuer" && read.keyId == "KEY")
        #expect(read.publicKey.uncompressedPoint == (try key.publicKey().uncompressedPoint))
        #expect(throws: SimulatorError.self) { try AcceptedKey(describedBy: "issuer:KEY") { _ in pem } }
        #expect(throws: SimulatorError.self) { try AcceptedKey(describedBy: "issuer:KEY:file") { _ in "no key" } }
    }
}
