import AppStore
import Foundation
import StrictJSON
import Testing

@Suite struct DeviceVerificationTests {
    /// Made with `printf '%s' NONCEDEVICE (both in lower case) | openssl dgst -sha384 -binary | base64`.
    static let nonce = "48C8B92D-CE0D-4229-BEDF-E61B4F9CFC92"
    static let device = "A0E5E5C2-2E3B-4B62-9E5B-6C0A1D2E3F40"
    static let digest = "asEnvyabAtCbIDeZN7vOdbeoLJbJC/g4HN8BjgqffiVdog/B6DyNqmGdGJOyoFub"

    static func verification(_ nonce: String? = nonce, _ digest: String? = digest) throws -> DeviceVerification? {
        var json = JSONWriter()
        json.beginObject()
        json.member("deviceVerification", digest)
        json.member("deviceVerificationNonce", nonce)
        json.endObject()
        return DeviceVerification(json: try JSONDocument(json.bytes).root)
    }

    @Test func `DeviceVerification binds a payload to the device whose id gives the digest, in any spelling`() throws {
        let verification = try #require(try Self.verification())
        let device = try #require(UUID(uuidString: Self.device))
        #expect(verification.isOf(device))
        #expect(try Self.verification(Self.nonce.lowercased())?.isOf(device) == true)
        #expect(!verification.isOf(try #require(UUID(uuidString: Self.nonce))))
        #expect(try Self.verification(Self.device)?.isOf(#require(UUID(uuidString: Self.nonce))) == false)
    }

    @Test func `DeviceVerification binds a payload without a readable digest to no device`() throws {
        #expect(try Self.verification(nil) == nil)
        #expect(try Self.verification("x") == nil)
        #expect(try Self.verification(Self.nonce, nil) == nil)
        #expect(try Self.verification(Self.nonce, "not base64") == nil)
    }
}
