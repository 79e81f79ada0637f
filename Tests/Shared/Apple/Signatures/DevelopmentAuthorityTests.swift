import Development
import Foundation
import Signatures
import TestSupport
import Testing

@Suite struct DevelopmentAuthorityTests {
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)

    @Test func `DevelopmentAuthority has a chain of the size and with the marker extensions of Apple's`() throws {
        let authority = try DevelopmentAuthority(now: Self.now)
        #expect(abs(authority.leaf.count - 1077) <= 3)
        #expect(abs(authority.intermediate.count - 794) <= 3)
        #expect(abs(authority.root.count - 583) <= 3)
        let leaf = try Certificate(der: authority.leaf)
        let intermediate = try Certificate(der: authority.intermediate)
        let root = try Certificate(der: authority.root)
        #expect(leaf.keyKind == .p256)
        #expect(intermediate.keyKind == .p384)
        #expect(root.keyKind == .p384)
        #expect(leaf.hasExtension(AppleExtension.leaf))
        #expect(!leaf.hasExtension(AppleExtension.intermediate))
        #expect(intermediate.hasExtension(AppleExtension.intermediate))
        #expect(leaf.keyUsage == .digitalSignature)
        #expect(intermediate.keyUsage == [.keyCertSign, .crlSign])
        #expect(!leaf.isAuthority)
        #expect(intermediate.isAuthority)
        #expect(leaf.issuer == intermediate.subject)
        #expect(intermediate.issuer == root.subject)
        #expect(root.issuer == root.subject)
        #expect(leaf.subject.hasPrefix("C=US,O=Storekeeper Development"))
        #expect(leaf.notBefore == Self.now.addingTimeInterval(-401 * 86400))
        #expect(leaf.notAfter == Self.now.addingTimeInterval(401 * 86400))
        #expect(leaf.serialNumber.count == 32)
        #expect(leaf.p256PublicKey?.uncompressedPoint == (try authority.leafKey.publicKey().uncompressedPoint))
        #expect(intermediate.p256PublicKey == nil)
    }

    @Test func `DevelopmentAuthority names its OCSP address in leaf and intermediate`() throws {
        let authority = try DevelopmentAuthority(now: Self.now, ocspAddress: "http://127.0.0.1:1/ocsp")
        #expect(try Certificate(der: authority.leaf).ocspAddresses == ["http://127.0.0.1:1/ocsp"])
        #expect(try Certificate(der: authority.intermediate).ocspAddresses == ["http://127.0.0.1:1/ocsp"])
        #expect(try Certificate(der: authority.root).ocspAddresses.isEmpty)
    }

    @Test func `DevelopmentAuthority is loaded as it was saved, and its keys are readable by their owner only`() throws
    {
        let root = try TemporaryDirectory()
        defer { root.remove() }
        let directory = root.url("authority")
        let made = try DevelopmentAuthority.loadOrCreate(in: directory, now: Self.now)
        let loaded = try DevelopmentAuthority.loadOrCreate(in: directory, now: Self.now)
        #expect(loaded.x5c == made.x5c)
        #expect(loaded.rootPEM == made.rootPEM)
        let bytes = Array("payload".utf8)
        let signature = try loaded.leafKey.signature(over: bytes)
        #expect(try made.leafKey.publicKey().isValid(signature: signature, over: bytes))
        for name in ["root-key.pem", "intermediate-key.pem", "leaf-key.pem"] {
            let path = directory.appendingPathComponent(name).path
            let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(permissions == 0o600)
        }
    }

    @Test func `DevelopmentAuthority reports a directory with a broken key`() throws {
        let root = try TemporaryDirectory()
        defer { root.remove() }
        let directory = root.url("authority")
        try DevelopmentAuthority(now: Self.now).save(to: directory)
        try Data("nothing".utf8).write(to: directory.appendingPathComponent("leaf-key.pem"))
        #expect(throws: OpenSSLFailure.self) { try DevelopmentAuthority(loadingFrom: directory) }
    }
}
