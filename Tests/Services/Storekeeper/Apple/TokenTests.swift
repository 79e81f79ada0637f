import AppStore
import Contracts
import Foundation
import Signatures
import TestSupport
import Testing

@testable import Devkit
@testable import Storekeeper

struct TokenTests {
    private static let apps = [
        ProcessPlan.App(bundleId: "com.example.app", appAppleId: 1, environments: [.production]),
        ProcessPlan.App(bundleId: "com.example.other", appAppleId: 2, environments: [.production]),
    ]

    /// The files of some apps with one key, and the arguments that name them.
    private static func arguments(_ apps: [ProcessPlan.App], in place: TemporaryDirectory) throws -> [String] {
        let keys = APIKeyFile(directory: place.path)
        try keys.write(for: apps)
        let list = place.path + "/apps.json"
        try JSONEncoder().encode(apps).write(to: URL(fileURLWithPath: list))
        return ["token", "--apps-file", list, "--api-keys-file", keys.list]
    }

    private static func claims(_ segment: ArraySlice<UInt8>) throws -> [String: Any] {
        let json = try #require(Base64.decode(segment, .url))
        return try #require(try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
    }

    @Test func `Token is signed by the app's key, names the app and ends within 20 minutes`() async throws {
        let place = try TemporaryDirectory()
        let outcome = await CommandOutcome.of(try Self.arguments([Self.apps[0]], in: place))
        #expect(outcome.code == 0, "\(outcome.errorOutput)")
        let token = try #require(CompactJWS(Array(outcome.text.utf8)[...]))
        let header = try Self.claims(token.header)
        #expect(header["alg"] as? String == "ES256" && header["kid"] as? String == APIKeyFile.keyId)
        let claims = try Self.claims(token.payload)
        #expect(claims["bid"] as? String == "com.example.app")
        #expect(claims["iss"] as? String == APIKeyFile.issuerId)
        #expect(claims["aud"] as? String == "appstoreconnect-v1")
        let now = CommandOutcome.now.timeIntervalSince1970
        let (issued, expiry) = (try #require(claims["iat"] as? Double), try #require(claims["exp"] as? Double))
        #expect(issued <= now && now < expiry && expiry <= now + 1200)
        let pem = try String(contentsOfFile: place.path + "/AuthKey_\(APIKeyFile.keyId).p8", encoding: .utf8)
        let key = try P256PrivateKey(pem: pem).publicKey()
        let signature = try #require(Base64.decode(token.signature, .url))
        #expect(key.isValid(signature: signature, over: Array(token.signed)))
    }

    @Test func `apple token needs one of several apps to be named, and an unknown key id lists the known ones`()
        async throws
    {
        let place = try TemporaryDirectory()
        let arguments = try Self.arguments(Self.apps, in: place)
        let unclear = await CommandOutcome.of(arguments)
        #expect(unclear.code == 64 && unclear.text.isEmpty)
        #expect(unclear.errorOutput.contains("com.example.app, com.example.other"))
        #expect(await CommandOutcome.of(arguments + ["--app", "com.example.other"]).code == 0)
        let wrong = await CommandOutcome.of(arguments + ["--app", "com.example.other", "--key", "NONE"])
        #expect(wrong.code == 64 && wrong.text.isEmpty)
        #expect(wrong.errorOutput.contains("DEVKEY0002"))
    }

    @Test func `File that is not there is said with its variable and exit 78`() async {
        let outcome = await CommandOutcome.of(["token", "--apps-file", "/none", "--api-keys-file", "/none"])
        #expect(outcome.code == 78)
        #expect(outcome.errorOutput.contains("STOREKEEPER_APPS_FILE"))
    }
}
