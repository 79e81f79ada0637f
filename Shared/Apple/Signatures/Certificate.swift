import Digests

import struct Foundation.Date

/// Why bytes are rejected as a certificate.
public enum CertificateFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// Not exactly one certificate in strict DER: other bytes, bytes behind it, BER lengths, unreadable extensions.
    case notStrictDER
    /// A file that should contain certificates has none, in PEM or DER.
    case noCertificates

    /// What is wrong, in one sentence.
    public var description: String {
        switch self {
        case .notStrictDER: "the bytes are not exactly one X.509 certificate in DER"
        case .noCertificates: "there is no certificate in it; give X.509 certificates in PEM or one in DER"
        }
    }
}

/// An X.509 certificate: read, not yet trusted.
///
/// Equal if and only if the bytes are equal.
public struct Certificate: Sendable, Hashable {
    /// The kinds of key that occur in Apple's chains and in forgeries of them.
    public enum KeyKind: Sendable, Hashable {
        /// ECDSA on NIST P-256, the only kind that signs payloads.
        case p256
        /// ECDSA on NIST P-384, the kind of Apple's authorities.
        case p384
        /// RSA of that many bits.
        case rsa(bits: Int)
        /// Anything else, unnamed curves included.
        case other
    }

    /// The exact encoding that was read.
    public let der: [UInt8]
    /// SHA-256 of the encoding: the certificate's fingerprint.
    public let sha256: [UInt8]
    /// First second of validity.
    public let notBefore: Date
    /// Last second of validity.
    public let notAfter: Date
    package let handle: CertificateHandle

    /// Reads one certificate.
    ///
    /// - Throws: `CertificateFault.notStrictDER`, also where something follows the certificate.
    public init(der: [UInt8]) throws(CertificateFault) {
        guard let handle = CertificateHandle(der: der), let from = handle.notBefore, let until = handle.notAfter else {
            throw .notStrictDER
        }
        self.der = der
        self.handle = handle
        sha256 = SHA256Hash.digest(der)
        notBefore = Date(timeIntervalSince1970: Double(from))
        notAfter = Date(timeIntervalSince1970: Double(until))
    }

    /// Every certificate of a file: several in PEM, or one in DER.
    ///
    /// - Throws: `CertificateFault.noCertificates` where there is none at all.
    public static func all(in file: [UInt8]) throws(CertificateFault) -> [Certificate] {
        if let single = try? Certificate(der: file) { return [single] }
        var certificates: [Certificate] = []
        for der in PEMBlocks.certificates(in: file) { certificates.append(try Certificate(der: der)) }
        guard !certificates.isEmpty else { throw .noCertificates }
        return certificates
    }

    /// The subject's distinguished name as RFC 2253 writes it.
    public var subject: String { handle.subject }

    /// The issuer's distinguished name as RFC 2253 writes it.
    public var issuer: String { handle.issuer }

    /// The organization in the subject of every development certificate, by which the simulator's roots are recognized.
    package static let developmentOrganization = "Storekeeper Development"

    /// Whether its subject belongs to the organization of the development certificates.
    public var isForDevelopment: Bool {
        subject.split(separator: ",").contains { $0 == "O=\(Self.developmentOrganization)" }
    }

    /// The serial number in upper-case hexadecimal.
    public var serialNumber: String { handle.serialNumber }

    /// What kind of public key it certifies.
    public var keyKind: KeyKind {
        switch handle.curve {
        case "prime256v1": .p256
        case "secp384r1": .p384
        case .some: .other
        case nil: handle.rsaBits.map { .rsa(bits: $0) } ?? .other
        }
    }

    /// Nil where the certificate does not restrict the use of its key.
    public var keyUsage: KeyUsage? { handle.keyUsage.map { KeyUsage(rawValue: $0) } }

    /// Whether its basic constraints make it a certificate authority.
    public var isAuthority: Bool { handle.isAuthority }

    /// Whether its signature is by the key of another certificate: nothing else about either is checked.
    public func isSigned(by issuer: Certificate) -> Bool { handle.isSigned(by: issuer.handle) }

    /// Whether it carries an extension with this object identifier, in dotted form.
    public func hasExtension(_ identifier: String) -> Bool { handle.hasExtension(identifier) }

    /// The addresses of its OCSP responders.
    public var ocspAddresses: [String] { handle.ocspAddresses }

    /// The key that it certifies, if it is on P-256.
    public var p256PublicKey: P256PublicKey? {
        keyKind == .p256 ? handle.publicPoint.flatMap { P256PublicKey(uncompressedPoint: $0) } : nil
    }

    /// The certificate in PEM, with a line feed at the end.
    public var pem: String { PEMBlocks.block("CERTIFICATE", der: der) }

    /// Compares certificates by their bytes.
    public static func == (one: Certificate, other: Certificate) -> Bool { one.der == other.der }

    /// Hashes the fingerprint.
    public func hash(into hasher: inout Hasher) { hasher.combine(sha256) }
}
