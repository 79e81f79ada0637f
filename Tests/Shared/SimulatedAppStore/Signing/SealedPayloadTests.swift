import AppStore
import Development
import Foundation
import Signatures
import Testing

@testable import SimulatedAppStore

@Suite struct SealedPayloadTests {
    @Test func `Sealed payload restores what was signed, and is small`() throws {
        let signer = PayloadSigner(authority: try NotificationSignerTests.authority.get())
        let key = try NotificationSignerTests.authority.get().leafKey.publicKey()
        // The placeholder in a value is a character like any other, also where it looks like a signed object.
        let claims = #"{"a":"~","b":"Info\":\"~","signedTransactionInfo":"~.x.y","note":"~~"}"#
        let sealed = try SealedPayload(claims: Array(claims.utf8), signer: signer)
        let parts = try #require(CompactJWS(sealed.jws[...]))
        let payload = String(decoding: try #require(Base64.decode(parts.payload, .url)), as: UTF8.self)
        let header = String(decoding: signer.headerSegment, as: UTF8.self)
        #expect(payload == claims.replacingOccurrences(of: #""~.x.y""#, with: "\"\(header).x.y\""))
        #expect(
            key.isValid(
                signature: try #require(Base64.decode(parts.signature, .url)), over: Array(parts.signed)))
    }

    @Test func `Sealed notification takes less than four kilobytes`() throws {
        let signer = try NotificationSignerTests.signer()
        for event in PopulationTests.events(100, seed: 9) {
            let payload = try signer.write(PendingNotification(event: event)).payload
            #expect(payload.claims.count + payload.signature.count < 4_096)
        }
    }
}
