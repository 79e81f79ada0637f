import AppStore
import Foundation
import ServerAPI
import Signatures
import Testing

@testable import Bootstrap

@Suite struct APIKeysWatcherTests {
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

    private func watched() throws -> APIKeysWatcher {
        let path = files.path("keys.json")
        return APIKeysWatcher(path: path, apps: apps, first: try APIKeysFile(contentsOf: path, apps: apps))
    }

    @Test func `APIKeysWatcher reports nothing while the keys are the same`() async throws {
        let keys = try watched()
        #expect(await keys.reload(apps: apps) == nil)
        try list("first")
        #expect(await keys.reload(apps: apps) == nil)
    }

    @Test func `APIKeysWatcher reports an added key once`() async throws {
        let keys = try watched()
        try writeKey("second")
        try list("first", "second")
        #expect(await keys.reload(apps: apps) != nil)
        #expect(await keys.reload(apps: apps) == nil)
    }

    @Test func `APIKeysWatcher reports another key under the same name`() async throws {
        let keys = try watched()
        try writeKey("first")
        #expect(await keys.reload(apps: apps) != nil)
    }

    @Test func `APIKeysWatcher keeps its keys while the file is invalid`() async throws {
        let keys = try watched()
        try list("absent")
        #expect(await keys.reload(apps: apps) == nil)
        try list("first")
        #expect(await keys.reload(apps: apps) == nil)
        try writeKey("absent")
        try list("absent")
        #expect(await keys.reload(apps: apps) != nil)
    }
}
