import Development
import Foundation
import Signatures
import Testing

@testable import AppStore
@testable import AppStoreSamples

@Suite struct ProvenReceiptTests {
    static let now = Date(timeIntervalSince1970: 1_780_000_000)
    static let authority = Result { try DevelopmentAuthority(now: now) }
    static let receipt = Result {
        try SampleReceipt.signedByOpenSSL(SampleReceipt.payload(), authority.get())
    }

    static func verifier(_ trust: TrustStore? = nil) throws -> SignedDataVerifier {
        SignedDataVerifier(
            trust: try trust ?? TrustStore.apple.adding(rootsIn: Array(authority.get().rootPEM.utf8)),
            apps: AppRegistry(apps: [AcceptedApp(bundleId: "com.example.app", appAppleId: 1)]))
    }

    static func reason(_ bytes: [UInt8], _ trust: TrustStore? = nil, now: Date = now) throws
        -> VerificationFailureReason?
    {
        switch try verifier(trust).receipt(bytes, now: now) {
        case .success: nil
        case .failure(let rejection): rejection.reason
        }
    }

    @Test
    func `ProvenReceipt reads app, environment, date and all purchases of a receipt that a trusted authority signed`()
        throws
    {
        let receipt = try Self.verifier().receipt(Self.receipt.get(), now: Self.now).get()
        #expect(receipt.bundleId == "com.example.app")
        #expect(receipt.environment == .sandbox)
        #expect(receipt.createdAt == Date(timeIntervalSince1970: 1_779_962_400))
        #expect(receipt.originalApplicationVersion == "1.0")
        #expect(receipt.originalTransactionIds == ["2000000000000001", "2000000000000007"])
    }

    @Test(arguments: [["-stream"], ["-noattr"], ["-md", "sha1"]])
    func `ProvenReceipt accepts every form that Apple has used`(options: [String]) throws {
        let bytes = try SampleReceipt.signedByOpenSSL(SampleReceipt.payload(), Self.authority.get(), options)
        #expect(try Self.reason(bytes) == nil)
    }

    @Test func `ProvenReceipt accepts a receipt in which nothing was bought`() throws {
        let bytes = try SampleReceipt.signedByOpenSSL(
            SampleReceipt.payload(purchases: []), Self.authority.get())
        #expect(try Self.verifier().receipt(bytes, now: Self.now).get().originalTransactionIds.isEmpty)
    }

    @Test func `ProvenReceipt rejects a receipt that another authority signed, or without its chain`() throws {
        let payload = SampleReceipt.payload()
        let stranger = try DevelopmentAuthority(now: Self.now)
        #expect(try Self.reason(SampleReceipt.signedByOpenSSL(payload, stranger)) == .chainUntrusted)
        #expect(try Self.reason(SampleReceipt.signedByOpenSSL(payload, [])) == .malformed)
        #expect(try Self.reason(SampleReceipt.signed(payload)) == .malformed)
        #expect(try Self.reason(Self.receipt.get(), .apple) == .chainUntrusted)
        let authority = try Self.authority.get()
        let withoutIntermediate = try SampleReceipt.signedByOpenSSL(payload, authority, chain: [authority.rootPEM])
        #expect(try Self.reason(withoutIntermediate) == .chainUntrusted)
        // The root need not come along where it is one of our own.
        let withoutRoot = try SampleReceipt.signedByOpenSSL(
            payload, authority, chain: [authority.intermediateIssuer.certificate.pem])
        #expect(try Self.reason(withoutRoot) == nil)
    }

    @Test func `ProvenReceipt rejects a receipt signed by a certificate that Apple did not mark for receipts`() throws {
        let authority = try Self.authority.get()
        let day = 86_400.0
        for (markers, reason) in [([], VerificationFailureReason.chainObjectIdentifier), ([AppleExtension.leaf], nil)] {
            var profile = CertificateProfile.leaf(
                notBefore: Self.now.addingTimeInterval(-day), notAfter: Self.now.addingTimeInterval(day))
            profile.extensions = markers.map { CertificateProfile.Extension($0) }
            let key = try IssuingKey.generate(.rsa(bits: 2048))
            let leaf = try authority.intermediateIssuer.issue(profile, for: key)
            let bytes = try SampleReceipt.signedByOpenSSL(SampleReceipt.payload(), authority, leaf: (leaf, key))
            #expect(try Self.reason(bytes) == reason)
        }
    }

    @Test func `ProvenReceipt rejects a receipt for another app or environment, or dated outside its certificates`()
        throws
    {
        let authority = try Self.authority.get()
        let cases: [([UInt8], VerificationFailureReason)] = [
            (SampleReceipt.payload(bundleId: "com.example.other"), .appUnknown),
            (SampleReceipt.payload(environment: "Xcode"), .environment),
            (SampleReceipt.payload(createdAt: "2015-01-01T00:00:00Z"), .notYetValid),
            (SampleReceipt.payload(createdAt: "2031-01-01T00:00:00Z"), .expiredAtSigning),
            (SampleReceipt.payload(createdAt: "yesterday"), .body),
            ([1, 2, 3], .body),
        ]
        for (payload, reason) in cases {
            #expect(try Self.reason(SampleReceipt.signedByOpenSSL(payload, authority)) == reason)
        }
    }

    @Test func `ProvenReceipt rejects an oversized receipt before anything of it is read`() throws {
        #expect(try Self.reason([UInt8](repeating: 0x30, count: 1 << 20 + 1)) == .oversized)
    }

    @Test func `ProvenReceipt accepts no receipt that says something else because a byte was changed`() throws {
        let whole = try Self.receipt.get()
        let verifier = try Self.verifier()
        let genuine = try verifier.receipt(whole, now: Self.now).get()
        var rejected = 0
        for index in whole.indices {
            var changed = whole
            changed[index] ^= 0x01
            switch verifier.receipt(changed, now: Self.now) {
            case .success(let receipt): #expect(receipt == genuine, "byte \(index)")
            case .failure: rejected += 1
            }
        }
        #expect(rejected > whole.count / 2)
    }

    @Test func `ProvenReceipt rejects a receipt cut anywhere`() throws {
        let whole = try Self.receipt.get()
        for end in stride(from: 0, to: whole.count, by: 7) {
            #expect(try Self.reason(Array(whole[..<end])) == .malformed, "\(end)")
        }
        #expect(try Self.reason(whole + [0]) == .malformed)
    }

    @Test func `Nested and huge lengths are rejected`() throws {
        for bytes in UncheckedReceiptTests.hostile { #expect(try Self.reason(bytes) == .malformed) }
    }
}
