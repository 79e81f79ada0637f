import AppStore
import Development
import Foundation
import Signatures

extension ForgeryMaterial {
    /// Certificates that are well formed and are not Apple's chain.
    func chains() throws -> [Forgery] {
        try lengths() + strangers() + profiles() + keys()
    }

    private func lengths() throws -> [Forgery] {
        let chain = [authority.leaf, authority.intermediate, authority.root]
        var cases: [Forgery] = []
        for count in [0, 1, 2, 4, 20] {
            let certificates = (0..<count).map { chain[min($0, 2)] }
            cases.append(
                Forgery("a chain of \(count)", .chainLength, try underChain(certificates, key: authority.leafKey)))
        }
        let direct = try P256PrivateKey.generate()
        let underRoot = try authority.rootIssuer.issue(leafProfile, for: IssuingKey(direct)).der
        cases.append(
            Forgery(
                "a leaf straight under the root", .chainLength,
                try underChain([underRoot, chain[1], chain[2]], key: direct)))
        let orders: [(String, [Int], VerificationFailureReason)] = [
            ("root as leaf", [2, 1, 2], .chainLength), ("root three times", [2, 2, 2], .chainLength),
            ("intermediate as leaf", [1, 1, 2], .chainLength), ("intermediate first", [1, 0, 2], .chainLength),
            ("backwards", [2, 1, 0], .chainLength), ("root second", [0, 2, 1], .chainUntrusted),
            ("leaf three times", [0, 0, 0], .chainUntrusted), ("leaf second", [0, 0, 2], .chainUntrusted),
        ]
        for (name, order, reason) in orders {
            cases.append(Forgery("\(name)", reason, try underChain(order.map { chain[$0] }, key: authority.leafKey)))
        }
        return cases
    }

    private func strangers() throws -> [Forgery] {
        let own = [stranger.leaf, stranger.intermediate, stranger.root]
        let ours = [authority.leaf, authority.intermediate, authority.root]
        // A leaf that acts as an authority, with the genuine certificates behind it.
        let leafAsIssuer = CertificateIssuer(
            certificate: try Certificate(der: authority.leaf), key: IssuingKey(authority.leafKey))
        let childKey = try P256PrivateKey.generate()
        let child = try leafAsIssuer.issue(leafProfile, for: IssuingKey(childKey)).der
        // An authority below the genuine intermediate, which allows none.
        let below = try authority.intermediateIssuer.issueAuthority(intermediateProfile, for: .generate(.p384))
        let belowKey = try P256PrivateKey.generate()
        let underBelow = try below.issue(leafProfile, for: IssuingKey(belowKey)).der
        // The genuine names over keys of one's own.
        let sameNames = CertificateIssuer(
            certificate: authority.intermediateIssuer.certificate, key: stranger.intermediateIssuer.key)
        let sameNamesKey = try P256PrivateKey.generate()
        let sameNamesLeaf = try sameNames.issue(leafProfile, for: IssuingKey(sameNamesKey)).der
        let falseRoot = CertificateIssuer(certificate: authority.rootIssuer.certificate, key: stranger.rootIssuer.key)
        let falseIntermediate = try falseRoot.issueAuthority(intermediateProfile, for: .generate(.p384))
        let falseKey = try P256PrivateKey.generate()
        let falseLeaf = try falseIntermediate.issue(leafProfile, for: IssuingKey(falseKey)).der
        var tampered = authority.leaf
        tampered[tampered.count - 1] ^= 1
        var tamperedKey = authority.leaf
        if let place = tamperedKey.firstRange(of: try authority.leafKey.publicKey().uncompressedPoint.suffix(20)) {
            tamperedKey[place.lowerBound] ^= 1
        }
        return [
            Forgery("a self-made chain", .chainUntrusted, try underChain(own, key: stranger.leafKey)),
            Forgery(
                "a self-made chain before our root", .chainUntrusted,
                try underChain([own[0], own[1], ours[2]], key: stranger.leafKey)),
            Forgery(
                "a self-made leaf before our intermediate", .chainUntrusted,
                try underChain([own[0], ours[1], ours[2]], key: stranger.leafKey)),
            Forgery(
                "our leaf before a self-made intermediate", .chainUntrusted,
                try underChain([ours[0], own[1], ours[2]], key: authority.leafKey)),
            Forgery(
                "a leaf that acts as an authority", .keyUsage, try underChain([child, ours[0], ours[1]], key: childKey)),
            Forgery(
                "a leaf that acts as an authority, before the root", .keyUsage,
                try underChain([child, ours[0], ours[2]], key: childKey)),
            Forgery(
                "an authority too many, without what is above it", .chainUntrusted,
                try underChain([underBelow, below.certificate.der, ours[2]], key: belowKey)),
            Forgery(
                "an authority too many, with the intermediate as root", .chainUntrusted,
                try underChain([underBelow, below.certificate.der, ours[1]], key: belowKey)),
            Forgery(
                "a leaf in the intermediate's name", .chainUntrusted,
                try underChain([sameNamesLeaf, ours[1], ours[2]], key: sameNamesKey)),
            Forgery(
                "an intermediate in the root's name", .chainUntrusted,
                try underChain([falseLeaf, falseIntermediate.certificate.der, ours[2]], key: falseKey)),
            Forgery(
                "a changed byte in the leaf's signature", .chainUntrusted,
                try underChain([tampered, ours[1], ours[2]], key: authority.leafKey)),
            Forgery(
                "a changed byte in the leaf's key", .chainUntrusted,
                try underChain([tamperedKey, ours[1], ours[2]], key: authority.leafKey)),
        ]
    }

    private func profiles() throws -> [Forgery] {
        let unknown = CertificateProfile.Extension("2.999.2", isCritical: true)
        // dNSName "other.test" as a subject alternative name.
        let otherName = CertificateProfile.Extension(
            "2.5.29.17", value: [0x30, 0x0C, 0x82, 0x0A] + Array("other.test".utf8))
        return [
            Forgery(
                "an intermediate without its mark", .chainObjectIdentifier,
                try underTrustedRoot(intermediate: { $0.extensions = [] })),
            Forgery(
                "a leaf without its mark", .chainObjectIdentifier, try underTrustedRoot(leaf: { $0.extensions = [] })),
            Forgery(
                "a leaf for another purpose", .chainObjectIdentifier,
                try underTrustedRoot(leaf: { $0.extensions = [.init("1.2.840.113635.100.6.1.2")] })),
            Forgery(
                "the marks the wrong way round", .chainObjectIdentifier,
                try underTrustedRoot(
                    intermediate: { $0.extensions = [.init(AppleExtension.leaf)] },
                    leaf: { $0.extensions = [.init(AppleExtension.intermediate)] })),
            Forgery(
                "a mark that goes on", .chainObjectIdentifier,
                try underTrustedRoot(leaf: { $0.extensions = [.init(AppleExtension.leaf + ".1")] })),
            Forgery("a leaf without key usage", .keyUsage, try underTrustedRoot(leaf: { $0.keyUsage = nil })),
            Forgery(
                "a leaf that may only encipher", .keyUsage,
                try underTrustedRoot(leaf: { $0.keyUsage = .keyEncipherment })),
            Forgery(
                "an intermediate without key usage", .keyUsage,
                try underTrustedRoot(intermediate: {
                    $0.keyUsage = nil
                    $0.pathLength = nil
                })),
            Forgery(
                "an intermediate that may not sign certificates", .keyUsage,
                try underTrustedRoot(intermediate: {
                    $0.keyUsage = .digitalSignature
                    $0.pathLength = nil
                })),
            Forgery(
                "an intermediate that is no authority", .chainUntrusted,
                try underTrustedRoot(intermediate: { $0.isAuthority = false })),
            Forgery(
                "an intermediate without basic constraints", .chainUntrusted,
                try underTrustedRoot(intermediate: { $0.isAuthority = nil })),
            Forgery(
                "a leaf that is an authority", .chainUntrusted,
                try underTrustedRoot(
                    intermediate: { $0.pathLength = nil },
                    leaf: {
                        $0.isAuthority = true
                        $0.keyUsage = [.digitalSignature, .keyCertSign]
                    })),
            Forgery(
                "an unknown critical extension", .chainUntrusted,
                try underTrustedRoot(leaf: { $0.extensions.append(unknown) })),
            Forgery(
                "a name outside of what the intermediate may name", .chainUntrusted,
                try underTrustedRoot(
                    intermediate: { $0.nameConstraints = "permitted;DNS:example.com" },
                    leaf: { $0.extensions.append(otherName) })),
            Forgery(
                "a name that the intermediate must not name", .chainUntrusted,
                try underTrustedRoot(
                    intermediate: { $0.nameConstraints = "excluded;DNS:other.test" },
                    leaf: { $0.extensions.append(otherName) })),
            Forgery(
                "certificates signed over SHA-1", .chainUntrusted,
                try underTrustedRoot(intermediate: { $0.digest = .sha1 }, leaf: { $0.digest = .sha1 })),
            Forgery(
                "no key identifiers", .chainUntrusted,
                try underTrustedRoot(
                    intermediate: { $0.hasKeyIdentifiers = false }, leaf: { $0.hasKeyIdentifiers = false })),
        ]
    }

    private func keys() throws -> [Forgery] {
        func leaf(_ kind: IssuingKey.Kind) throws -> [UInt8] {
            let certificate = try authority.intermediateIssuer.issue(leafProfile, for: .generate(kind))
            return try underChain([certificate.der, authority.intermediate, authority.root], key: authority.leafKey)
        }
        return [
            Forgery("a leaf on P-384", .keyUsage, try leaf(.p384)),
            Forgery("a leaf with an RSA key", .keyUsage, try leaf(.rsa(bits: 2048))),
            Forgery("a leaf with a small RSA key", .chainUntrusted, try leaf(.rsa(bits: 1024))),
        ]
    }
}
