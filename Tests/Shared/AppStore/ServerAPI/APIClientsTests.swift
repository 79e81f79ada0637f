import Foundation
import Signatures
import Testing

@testable import AppStore

@Suite struct APIClientsTests {
    @Test func `there is a client for each app with keys and each real environment that it accepts`() async throws {
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
        try await APIDesk.scene { desk in
            let clients = APIClients(
                apps: apps, keys: keys, verifier: desk.verifier, transport: desk.transport, clock: desk.clock())
            #expect(
                clients.all.map { "\($0.app.bundleId) \($0.environment.rawValue)" } == [
                    "a Production", "a Sandbox", "b Production",
                ])
            #expect(clients["a", .sandbox]?.app.appAppleId == 1)
            #expect(clients["b", .sandbox] == nil && clients["keyless", .production] == nil)
        }
    }
}
