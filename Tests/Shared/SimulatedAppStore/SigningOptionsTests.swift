import Foundation
import Signatures
import TestSupport
import Testing

@testable import SimulatedAppStore

struct SigningOptionsTests {
    static func apps(_ arguments: String...) throws -> [String] {
        try SigningOptions.parse(["--authority", "here"] + arguments).apps.map {
            "\($0.bundleId) \($0.appAppleId) \($0.environment.rawValue)"
        }
    }

    @Test func `App is in its own environments, else in those of --environment`() throws {
        #expect(try Self.apps() == ["com.example.app 1234567890 Sandbox"])
        #expect(
            try Self.apps("--app", "a:1", "--app", "b:2:Production", "--app", "c:3:Production,Sandbox")
                == ["a 1 Sandbox", "b 2 Production", "c 3 Production", "c 3 Sandbox"])
    }

    @Test(arguments: ["a", "a:", ":1", "a:0", "a:x", "a:1:", "a:1:Moon", "a:1:Sandbox:x"])
    func `Invalid app is rejected`(text: String) {
        #expect(throws: (any Error).self) { try Self.apps("--app", text) }
    }

    @Test func `App beside a catalogue is simulated too, and one that contradicts it is refused`() throws {
        let json = #"""
            {"apps": [{"bundleId": "com.example.mine", "appAppleId": 7, "environments": ["Sandbox"], "products": [
            {"productId": "coins", "type": "Consumable", "price": 990}]}]}
            """#
        let catalogue = try Catalogue(json: Array(json.utf8))
        func apps(_ arguments: String...) throws -> [String] {
            try SigningOptions.parse(["--authority", "here"] + arguments).apps(with: catalogue).map {
                "\($0.bundleId) \($0.appAppleId) \($0.environment.rawValue)"
            }
        }
        let mine = "com.example.mine 7 Sandbox"
        #expect(try apps() == [mine])
        #expect(try apps("--app", "com.example.app:1234567890") == ["com.example.app 1234567890 Sandbox", mine])
        #expect(try apps("--app", "com.example.mine:7") == [mine])
        #expect(throws: SimulatorError.self) { try apps("--app", "com.example.mine:8") }
        #expect(throws: SimulatorError.self) { try apps("--app", "com.example.mine:7:Production") }
        // What --environment names counts for an --app without its own, and not for the catalogue.
        #expect(throws: SimulatorError.self) {
            try apps("--app", "com.example.mine:7", "--environment", "Production")
        }
        #expect(try apps("--app", "com.example.mine:7", "--environment", "Sandbox") == [mine])
        #expect(
            try apps("--app", "a:1", "--app", "com.example.mine:7:Sandbox", "--environment", "Production")
                == ["a 1 Production", mine])
        #expect(try apps("--environment", "Production") == [mine])
    }

    @Test func `Authority has its root as PEM and as DER`() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let authority = try SigningOptions.parse(["--authority", directory.path("authority")])
            .developmentAuthority(now: NotificationSignerTests.now)
        let der = try Data(contentsOf: URL(fileURLWithPath: directory.path("authority/root.der")))
        let pem = try Data(contentsOf: URL(fileURLWithPath: directory.path("authority/root.pem")))
        #expect(Array(der) == authority.root)
        #expect(try Certificate.all(in: Array(pem)).map(\.der) == [Array(der)])
    }

    @Test func `App that occurs twice is rejected`() {
        #expect(throws: (any Error).self) { try Self.apps("--app", "a:1:Sandbox", "--app", "a:1:Production") }
    }
}
