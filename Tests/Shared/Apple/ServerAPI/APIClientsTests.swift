import Foundation
import Signatures
import TestSupport
import Testing

@testable import AppStore
@testable import AppStoreSamples
@testable import ServerAPI

@Suite struct APIClientsTests {
    @Test func `APIClients have a client for each app with keys and each real environment that it accepts`()
        async throws
    {
        let pem = try P256PrivateKey.generate().pem()
        let apps = AppRegistry(
            apps: [
                AcceptedApp(bundleId: "b", appAppleId: 2, environments: [.production]),
                AcceptedApp(bundleId: "a", appAppleId: 1, environments: [.production, .sandbox, .xcode]),
                AcceptedApp(bundleId: "keyless", appAppleId: 3),
            ], developmentMode: true)
        let keys = try APIKeysFile(
            Array(
                #"""
                [{"bundleId":"a","issuerId":"i","keyId":"k","privateKeyFile":"f"},
                 {"bundleId":"b","issuerId":"i","keyId":"k","privateKeyFile":"f"}]
                """#.utf8), apps: apps
        ) { _ in pem }
        try await APIFixture.scene { fixture in
            let clients = APIClients(
                apps: apps, keys: keys, verifier: fixture.verifier, transport: fixture.transport, clock: fixture.clock()
            )
            #expect(
                clients.all.map { "\($0.app.bundleId) \($0.environment.rawValue)" } == [
                    "a Production", "a Sandbox", "b Production",
                ])
            #expect(clients["a", .sandbox]?.app.appAppleId == 1)
            #expect(clients["b", .sandbox] == nil && clients["keyless", .production] == nil)
        }
    }

    @Test func `Simulator has Apple's two addresses below one, and each client its own limits`() async throws {
        let pem = try P256PrivateKey.generate().pem()
        let apps = AppRegistry(apps: [APIFixture.app])
        let entry = #"[{"bundleId":"\#(APIFixture.app.bundleId)","issuerId":"i","keyId":"k","privateKeyFile":"f"}]"#
        let keys = try APIKeysFile(Array(entry.utf8), apps: apps) { _ in pem }
        try await APIFixture.scene { _, _ in
            .json(#"{"testNotificationToken":"t"}"#)
        } _: { fixture, store in
            let clock = fixture.clock()
            let clients = APIClients(
                apps: apps, keys: keys, verifier: fixture.verifier, transport: fixture.transport, clock: clock,
                baseURL: store.url, limits: { APIRateLimits(environment: $1, scale: 0.5, clock: clock) })
            for client in clients.all { for _ in 0..<2 { _ = try await client.requestTestNotification() } }
            let line = "/inApps/v1/notifications/test"
            #expect(
                store.requests.map(\.target) == [
                    "/production\(line)", "/production\(line)", "/sandbox\(line)", "/sandbox\(line)",
                ])
            #expect(fixture.ticking.sleeps == [.seconds(1), .seconds(10)])
        }
    }

    @Test func `APIClients gives a new app its clients, in all copies, and keeps those of the others`() async throws {
        let pem = try P256PrivateKey.generate().pem()
        func keys(_ apps: [AcceptedApp]) throws -> APIKeysFile {
            let entries = apps.map {
                #"{"bundleId":"\#($0.bundleId)","issuerId":"i","keyId":"\#(apps.count)","privateKeyFile":"f"}"#
            }
            return try APIKeysFile(
                Array("[\(entries.joined(separator: ","))]".utf8), apps: AppRegistry(apps: apps)
            ) { _ in pem }
        }
        let added = AcceptedApp(bundleId: "added", appAppleId: 7, environments: [.sandbox])
        try await APIFixture.scene { _, _ in
            .json("{}")
        } _: { fixture, store in
            let clients = APIClients(
                apps: AppRegistry(apps: [APIFixture.app]), keys: try keys([APIFixture.app]), verifier: fixture.verifier,
                transport: fixture.transport, clock: fixture.clock(), baseURL: store.url)
            let copy = clients
            let both = [APIFixture.app, added]
            await clients.use(try keys(both), apps: AppRegistry(apps: both))
            #expect(copy.all.count == 3)
            try await #require(copy["added", .sandbox]).finishTransaction("1")
            try await #require(copy[APIFixture.app.bundleId, .production]).finishTransaction("1")
            let ids = try store.requests.map { try APIFixture.token($0).header["kid"]?.string }
            #expect(ids == ["2", "2"])
            await clients.use(try keys([added]), apps: AppRegistry(apps: [added]))
            #expect(copy.all.map(\.app.bundleId) == ["added"])
        }
    }

    @Test func `APIClients verifies answers with reloaded roots and apps, for old and new apps`() async throws {
        let pem = try P256PrivateKey.generate().pem()
        let material = try ForgeryMaterial(now: APIFixture.start)
        func keys(_ apps: [AcceptedApp]) throws -> APIKeysFile {
            let entries = apps.map {
                #"{"bundleId":"\#($0.bundleId)","issuerId":"i","keyId":"k","privateKeyFile":"f"}"#
            }
            return try APIKeysFile(
                Array("[\(entries.joined(separator: ","))]".utf8), apps: AppRegistry(apps: apps)
            ) { _ in pem }
        }
        let signed = [ForgeryMaterial.bundleId, ForgeryMaterial.productionOnly].map { bundleId in
            Result { try material.signed(material.transaction { $0.bundleId = bundleId }) }
        }
        let texts = try signed.map { "\"" + String(decoding: try $0.get(), as: UTF8.self) + "\"" }
        let body = #"{"revision":"1","hasMore":false,"signedTransactions":["# + texts.joined(separator: ",") + "]}"
        try await APIFixture.scene { _, _ in
            .json(body)
        } _: { fixture, store in
            let (old, new) = (material.registry.all[0], material.registry.all[1])
            let clients = APIClients(
                apps: AppRegistry(apps: [old]), keys: try keys([old]), verifier: fixture.verifier,
                transport: fixture.transport, clock: fixture.clock(), baseURL: store.url)
            func proven(_ app: AcceptedApp) async throws -> [String] {
                var ids: [String] = []
                for try await page in try #require(clients[app.bundleId, .production]).transactionHistory(of: "1") {
                    ids += page.transactions.compactMap { $0.value?.bundleId }
                }
                return ids
            }
            #expect(try await proven(old) == [])
            clients.use(try material.verifier())
            #expect(try await proven(old) == [old.bundleId])
            await clients.use(try keys([old, new]), apps: material.registry)
            #expect(try await proven(new) == [new.bundleId])
        }
    }

    @Test func `APIClients passes reloaded keys to every client`() async throws {
        let pem = try P256PrivateKey.generate().pem()
        let apps = AppRegistry(apps: [APIFixture.app])
        func keys(_ id: String) throws -> APIKeysFile {
            let entry =
                #"[{"bundleId":"\#(APIFixture.app.bundleId)","issuerId":"i","keyId":"\#(id)","privateKeyFile":"f"}]"#
            return try APIKeysFile(Array(entry.utf8), apps: apps) { _ in pem }
        }
        try await APIFixture.scene { _, _ in
            .json("{}")
        } _: { fixture, store in
            let clients = APIClients(
                apps: apps, keys: try keys("OLD"), verifier: fixture.verifier, transport: fixture.transport,
                clock: fixture.clock(), baseURL: store.url)
            for client in clients.all { try await client.finishTransaction("1") }
            await clients.use(try keys("NEW"))
            for client in clients.all { try await client.finishTransaction("1") }
            let ids = try store.requests.map { try APIFixture.token($0).header["kid"]?.string }
            #expect(ids == ["OLD", "OLD", "NEW", "NEW"])
        }
    }
}
