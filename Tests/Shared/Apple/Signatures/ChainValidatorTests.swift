import Development
import Foundation
import Signatures
import TestSupport
import Testing

@Suite struct ChainValidatorTests {
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)
    private static let day = 86_400.0

    private struct Chain {
        let root: CertificateIssuer
        let intermediate: CertificateIssuer
        let leaf: Certificate
    }

    /// A chain like Apple's with one difference.
    private func chain(
        root changeRoot: (inout CertificateProfile) -> Void = { _ in },
        intermediate changeIntermediate: (inout CertificateProfile) -> Void = { _ in },
        leaf changeLeaf: (inout CertificateProfile) -> Void = { _ in },
        leafKind: IssuingKey.Kind = .p256
    ) throws -> Chain {
        let from = Self.now.addingTimeInterval(-300 * Self.day)
        let until = Self.now.addingTimeInterval(300 * Self.day)
        var rootProfile = CertificateProfile.root(notBefore: from, notAfter: until)
        var intermediateProfile = CertificateProfile.intermediate(notBefore: from, notAfter: until)
        var leafProfile = CertificateProfile.leaf(notBefore: from, notAfter: until)
        changeRoot(&rootProfile)
        changeIntermediate(&intermediateProfile)
        changeLeaf(&leafProfile)
        let root = try CertificateIssuer.selfSigned(rootProfile, key: .generate(.p384))
        let intermediate = try root.issueAuthority(intermediateProfile, for: .generate(.p384))
        return Chain(
            root: root, intermediate: intermediate,
            leaf: try intermediate.issue(leafProfile, for: .generate(leafKind)))
    }

    private func validate(_ chain: Chain, trust: TrustStore? = nil) throws -> Result<ValidatedChain, ChainFailure> {
        try ChainValidator(trust: trust ?? TrustStore(roots: [chain.root.certificate])).validate(
            leaf: chain.leaf, intermediate: chain.intermediate.certificate, offered: chain.root.certificate)
    }

    private func failure(_ chain: Chain, trust: TrustStore? = nil) throws -> ChainFailure? {
        if case .failure(let failure) = try validate(chain, trust: trust) { return failure }
        return nil
    }

    @Test func `ChainValidator accepts a chain like Apple's for as long as all three certificates are valid`() throws {
        let until = Self.now.addingTimeInterval(50 * Self.day)
        let from = Self.now.addingTimeInterval(-50 * Self.day)
        let chain = try chain(intermediate: { $0.notAfter = until }, leaf: { $0.notBefore = from })
        let validated = try validate(chain).get()
        #expect(validated.leaf == chain.leaf)
        #expect(validated.root == chain.root.certificate)
        #expect(validated.validFrom == from)
        #expect(validated.validUntil == until)
        #expect(validated.standing(at: from) == .valid)
        #expect(validated.standing(at: from.addingTimeInterval(-1)) == .notYetValid)
        #expect(validated.standing(at: until) == .valid)
        #expect(validated.standing(at: until.addingTimeInterval(1)) == .expired)
    }

    @Test func `ChainValidator trusts a root by its bytes or by its pinned digest, and not otherwise`() throws {
        let chain = try chain()
        let other = try self.chain().root.certificate
        #expect(try failure(chain, trust: TrustStore(pinnedDigests: [chain.root.certificate.sha256])) == nil)
        #expect(try failure(chain, trust: TrustStore(roots: [other]).adding(roots: [chain.root.certificate])) == nil)
        let file = Array((other.pem + chain.root.certificate.pem).utf8)
        #expect(try failure(chain, trust: TrustStore().adding(rootsIn: file)) == nil)
        #expect(try failure(chain, trust: TrustStore().adding(rootsIn: chain.root.certificate.der)) == nil)
        for trust in [TrustStore(), .apple, TrustStore(roots: [other]), TrustStore(pinnedDigests: [other.sha256])] {
            guard case .untrusted = try failure(chain, trust: trust) else {
                Issue.record("trusted")
                return
            }
        }
        // A pinned intermediate is no root.
        let pinned = TrustStore(pinnedDigests: [chain.intermediate.certificate.sha256])
        let result = try ChainValidator(trust: pinned).validate(
            leaf: chain.leaf, intermediate: chain.intermediate.certificate, offered: chain.intermediate.certificate)
        #expect(throws: ChainFailure.self) { try result.get() }
    }

    @Test func `ChainValidator reports path length, marker extensions and keys as failures of their own`() throws {
        guard case .pathLength = try failure(chain(root: { $0.pathLength = 0 })) else {
            Issue.record("a root that allows no authority below it")
            return
        }
        #expect(try failure(chain(leaf: { $0.extensions = [] })) == .missingExtension(AppleExtension.leaf))
        #expect(
            try failure(chain(intermediate: { $0.extensions = [] })) == .missingExtension(AppleExtension.intermediate))
        #expect(try failure(chain(leafKind: .p384)) == .leafKey)
        #expect(try failure(chain(leafKind: .rsa(bits: 2048))) == .leafKey)
        let direct = try chain()
        let underRoot = try direct.root.issue(
            .leaf(notBefore: Self.now, notAfter: Self.now.addingTimeInterval(1)), for: .generate(.p256))
        let result = try ChainValidator(trust: TrustStore(roots: [direct.root.certificate])).validate(
            leaf: underRoot, intermediate: direct.intermediate.certificate, offered: direct.root.certificate)
        guard case .failure(.wrongLength(2)) = result else {
            Issue.record("a leaf straight under the root")
            return
        }
    }

    @Test func `ChainValidator agrees with the command line of OpenSSL about every path`() throws {
        let constraint: (inout CertificateProfile) -> Void = { $0.nameConstraints = "permitted;DNS:example.com" }
        let otherName = CertificateProfile.Extension(
            "2.5.29.17", value: [0x30, 0x0C, 0x82, 0x0A] + Array("other.test".utf8))
        var chains: [(String, Chain)] = [
            ("genuine", try chain()), ("path length", try chain(root: { $0.pathLength = 0 })),
            ("no authority", try chain(intermediate: { $0.isAuthority = nil })),
            ("no key usage", try chain(intermediate: { $0.keyUsage = nil })),
            ("wrong key usage", try chain(intermediate: { $0.keyUsage = .digitalSignature })),
            ("no key identifiers", try chain(leaf: { $0.hasKeyIdentifiers = false })),
            ("critical", try chain(leaf: { $0.extensions.append(.init("2.999.2", isCritical: true)) })),
            ("name", try chain(intermediate: constraint, leaf: { $0.extensions.append(otherName) })),
            ("SHA-1", try chain(leaf: { $0.digest = .sha1 })),
        ]
        let one = try chain()
        let two = try chain()
        chains.append(("foreign root", Chain(root: two.root, intermediate: one.intermediate, leaf: one.leaf)))
        chains.append(("foreign intermediate", Chain(root: one.root, intermediate: two.intermediate, leaf: one.leaf)))
        chains.append(("foreign leaf", Chain(root: one.root, intermediate: one.intermediate, leaf: two.leaf)))
        for (name, chain) in chains {
            #expect(try (failure(chain) == nil) == isAcceptedByCommandLine(chain), "\(name)")
        }
    }

    /// `openssl verify` with the same strictness.
    private func isAcceptedByCommandLine(_ chain: Chain) throws -> Bool {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        func write(_ name: String, _ certificate: Certificate) throws -> String {
            try directory.write(name, certificate.pem)
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "openssl", "verify", "-x509_strict", "-no_check_time", "-auth_level", "2",
            "-trusted", try write("root", chain.root.certificate),
            "-untrusted", try write("intermediate", chain.intermediate.certificate), try write("leaf", chain.leaf),
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
