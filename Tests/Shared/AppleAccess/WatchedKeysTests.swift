import AppStore
import Foundation
import Signatures
import Testing

@testable import AppleAccess

@Suite struct WatchedKeysTests {
    private let files: Files
    private let apps = AppRegistry(apps: [AcceptedApp(bundleId: "com.example.reader", appAppleId: 1)])

    init() throws {
        files = try Files()
        try writeKey("first")
        try list("first")
    }

    private func writeKey(_ name: String) throws { try files.write("\(name).p8", try P256PrivateKey.generate().pem()) }

    private func list(_ names: String...) throws {
        let entries = names.map {
            #"{"bundleId": "com.example.reader", "issuerId": "i", "keyId": "\#($0)", "privateKeyFile": "\#($0).p8"}"#
        }
        try files.write("keys.json", "[\(entries.joined(separator: ","))]")
    }

    private func watched() throws -> WatchedKeys {
        let path = files.path("keys.json")
        return WatchedKeys(path: path, apps: apps, first: try APIKeysFile(contentsOf: path, apps: apps))
    }

    @Test func `what has not changed is no news`() async throws {
        let keys = try watched()
        #expect(await keys.look() == nil)
        try list("first")
        #expect(await keys.look() == nil)
    }

    @Test func `a further key is news once`() async throws {
        let keys = try watched()
        try writeKey("second")
        try list("first", "second")
        #expect(await keys.look() != nil)
        #expect(await keys.look() == nil)
    }

    @Test func `another key under the same name is news`() async throws {
        let keys = try watched()
        try writeKey("first")
        #expect(await keys.look() != nil)
    }

    @Test func `a mistake changes nothing until it is mended`() async throws {
        let keys = try watched()
        try list("absent")
        #expect(await keys.look() == nil)
        try list("first")
        #expect(await keys.look() == nil)
        try writeKey("absent")
        try list("absent")
        #expect(await keys.look() != nil)
    }
}
