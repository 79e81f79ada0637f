import Foundation
import Signatures

/// A chain of certificates like Apple's with its keys, by which the simulator signs.
///
/// The names say "Development", and no verifier trusts the root unless its configuration names it.
public struct DevelopmentAuthority: Sendable {
    /// DER of the self-signed root, about 583 bytes like Apple's.
    public let root: [UInt8]
    /// DER of the intermediate with Apple's marker, about 794 bytes.
    public let intermediate: [UInt8]
    /// DER of the leaf with Apple's marker, about 1077 bytes.
    public let leaf: [UInt8]
    /// Signs payloads.
    public let leafKey: P256PrivateKey
    /// The root as an issuer, for further intermediates.
    public let rootIssuer: CertificateIssuer
    /// The intermediate as an issuer, for further leafs and for answers about revocation.
    public let intermediateIssuer: CertificateIssuer

    /// Creates keys and certificates around a point in time.
    ///
    /// The leaf was valid for 401 days before it, so that payloads may be dated as far back as they are accepted, and
    /// stays valid for as long.
    public init(now: Date, ocspAddress: String? = nil) throws {
        let day = 86_400.0
        let rootProfile = CertificateProfile.root(
            notBefore: now.addingTimeInterval(-10 * 365 * day), notAfter: now.addingTimeInterval(15 * 365 * day))
        var intermediateProfile = CertificateProfile.intermediate(
            notBefore: now.addingTimeInterval(-5 * 365 * day), notAfter: now.addingTimeInterval(10 * 365 * day))
        var leafProfile = CertificateProfile.leaf(
            notBefore: now.addingTimeInterval(-401 * day), notAfter: now.addingTimeInterval(401 * day))
        intermediateProfile.ocspAddress = ocspAddress
        leafProfile.ocspAddress = ocspAddress
        let key = try P256PrivateKey.generate()
        let root = try CertificateIssuer.selfSigned(rootProfile, key: try .generate(.p384))
        let intermediate = try root.issueAuthority(intermediateProfile, for: try .generate(.p384))
        let leaf = try intermediate.issue(leafProfile, for: IssuingKey(key))
        self.init(root: root, intermediate: intermediate, leaf: leaf, leafKey: key)
    }

    private init(root: CertificateIssuer, intermediate: CertificateIssuer, leaf: Certificate, leafKey: P256PrivateKey) {
        rootIssuer = root
        intermediateIssuer = intermediate
        self.root = root.certificate.der
        self.intermediate = intermediate.certificate.der
        self.leaf = leaf.der
        self.leafKey = leafKey
    }

    /// The same root with a new intermediate and a new leaf, as after a change of Apple's certificates.
    public func renewed(now: Date) throws -> DevelopmentAuthority {
        let day = 86_400.0
        var intermediateProfile = CertificateProfile.intermediate(
            notBefore: now.addingTimeInterval(-401 * day), notAfter: now.addingTimeInterval(10 * 365 * day))
        intermediateProfile.organizationalUnit = "G7"
        let leafProfile = CertificateProfile.leaf(
            notBefore: now.addingTimeInterval(-401 * day), notAfter: now.addingTimeInterval(401 * day))
        let key = try P256PrivateKey.generate()
        let intermediate = try rootIssuer.issueAuthority(intermediateProfile, for: try .generate(.p384))
        let leaf = try intermediate.issue(leafProfile, for: IssuingKey(key))
        return DevelopmentAuthority(root: rootIssuer, intermediate: intermediate, leaf: leaf, leafKey: key)
    }

    /// The chain as a JWS header names it: standard base64 of leaf, intermediate and root.
    public var x5c: [String] { [leaf, intermediate, root].map { Data($0).base64EncodedString() } }

    /// The root for a verifier's configuration.
    public var rootPEM: String { rootIssuer.certificate.pem }
}

extension DevelopmentAuthority {
    /// Writes certificates and keys as PEM files into a directory, which is created if it is missing.
    ///
    /// `root.pem` is for verifiers, `root.der` for those that take no PEM, such as Apple's libraries; the files that end in `-key.pem` are readable by their owner only.
    public func save(to directory: URL) throws {
        let files = FileManager.default
        try files.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let texts: [(String, String, Int)] = [
            ("root-key.pem", try rootIssuer.key.pem(), 0o600),
            ("intermediate-key.pem", try intermediateIssuer.key.pem(), 0o600),
            ("leaf-key.pem", try leafKey.pem(), 0o600),
            ("leaf.pem", try Certificate(der: leaf).pem, 0o644),
            ("intermediate.pem", intermediateIssuer.certificate.pem, 0o644),
        ]
        var contents = texts.map { ($0, Data($1.utf8), $2) }
        contents.append(("root.der", Data(root), 0o644))
        // Last, so that a process that sees the root finds the rest.
        contents.append(("root.pem", Data(rootPEM.utf8), 0o644))
        for (name, bytes, permissions) in contents {
            let path = directory.appendingPathComponent(name).path
            // Created with its permissions, so that it is never readable by others.
            guard
                files.createFile(
                    atPath: path, contents: bytes, attributes: [.posixPermissions: permissions])
            else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: path]) }
        }
    }

    /// Reads what `save` wrote.
    public init(loadingFrom directory: URL) throws {
        func text(_ name: String) throws -> String {
            try String(contentsOf: directory.appendingPathComponent(name), encoding: .utf8)
        }
        func certificate(_ name: String) throws -> Certificate {
            let found = try Certificate.all(in: Array(try text(name).utf8))
            guard let first = found.first else { throw CertificateFault.noCertificates }
            return first
        }
        self.init(
            root: CertificateIssuer(
                certificate: try certificate("root.pem"), key: try IssuingKey(pem: try text("root-key.pem"))),
            intermediate: CertificateIssuer(
                certificate: try certificate("intermediate.pem"),
                key: try IssuingKey(pem: try text("intermediate-key.pem"))),
            leaf: try certificate("leaf.pem"),
            leafKey: try P256PrivateKey(pem: try text("leaf-key.pem")))
    }

    /// Reads the authority of a directory, or creates one there if there is none.
    ///
    /// - Parameter ocspAddress: for a new one; an existing authority keeps its address.
    public static func loadOrCreate(
        in directory: URL, now: Date, ocspAddress: String? = nil
    ) throws -> DevelopmentAuthority {
        let root = directory.appendingPathComponent("root.pem")
        if FileManager.default.fileExists(atPath: root.path) { return try DevelopmentAuthority(loadingFrom: directory) }
        let authority = try DevelopmentAuthority(now: now, ocspAddress: ocspAddress)
        try authority.save(to: directory)
        return authority
    }
}
