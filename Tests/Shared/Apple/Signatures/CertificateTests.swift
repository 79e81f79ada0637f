import Development
import Foundation
import Signatures
import Testing

@Suite struct CertificateTests {
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)

    @Test func `Certificate is exactly one certificate in strict DER`() throws {
        let der = try DevelopmentAuthority(now: Self.now).leaf
        #expect(try Certificate(der: der).der == der)
        let broken: [[UInt8]] = [
            [], [0x30], [0x30, 0x00], Array("certificate".utf8), der + [0], Array(der.dropLast()), der + der,
            [0x30, 0x83, 0x00] + der[2...], [0x30, 0x80] + der[4...] + [0, 0], [0x31] + der.dropFirst(),
        ]
        for bytes in broken {
            #expect(throws: CertificateFault.notStrictDER) { try Certificate(der: bytes) }
        }
    }

    @Test func `Certificate is no prefix of one, and no changed byte goes unnoticed`() throws {
        let authority = try DevelopmentAuthority(now: Self.now)
        let der = authority.leaf
        let trust = TrustStore(roots: [try Certificate(der: authority.root)])
        let intermediate = try Certificate(der: authority.intermediate)
        for length in stride(from: 0, to: der.count, by: 7) {
            #expect(throws: CertificateFault.self) { try Certificate(der: Array(der.prefix(length))) }
        }
        for place in stride(from: 0, to: der.count, by: 5) {
            var changed = der
            changed[place] ^= 0x01
            guard let leaf = try? Certificate(der: changed) else { continue }
            let result = try ChainValidator(trust: trust).validate(
                leaf: leaf, intermediate: intermediate, offered: trust.roots[0])
            #expect(throws: ChainFailure.self, "byte \(place)") { try result.get() }
        }
    }

    @Test func `Certificate files hold several in PEM or one in DER, or are rejected`() throws {
        let one = try Certificate(der: DevelopmentAuthority(now: Self.now).root)
        let two = try Certificate(der: DevelopmentAuthority(now: Self.now).root)
        let key = try P256PrivateKey.generate().pem()
        #expect(try Certificate.all(in: one.der) == [one])
        #expect(try Certificate.all(in: Array((one.pem + "\n# comment\n" + key + two.pem).utf8)) == [one, two])
        for file in [[], Array("nothing".utf8), Array(key.utf8)] {
            #expect(throws: CertificateFault.noCertificates) { try Certificate.all(in: file) }
        }
    }

    @Test func `Certificate has the names, numbers and dates that were issued`() throws {
        var profile = CertificateProfile.root(
            notBefore: Date(timeIntervalSince1970: 0), notAfter: Date(timeIntervalSince1970: 4_102_444_800))
        profile.commonName = "Größe, \"Anführung\" + Plus"
        let issued = try CertificateIssuer.selfSigned(profile, key: .generate(.rsa(bits: 2048))).certificate
        #expect(issued.subject.hasSuffix(#"CN=Größe\, \"Anführung\" \+ Plus"#))
        #expect(issued.notBefore == Date(timeIntervalSince1970: 0))
        #expect(issued.notAfter == Date(timeIntervalSince1970: 4_102_444_800))
        #expect(issued.keyKind == .rsa(bits: 2048))
        #expect(issued.p256PublicKey == nil)
        #expect(!issued.hasExtension("not an identifier"))
        #expect(Set([issued, try Certificate(der: issued.der)]).count == 1)
    }
}
