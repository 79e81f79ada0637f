import Signatures

import struct Foundation.Date

/// The content of a certificate to be issued.
///
/// The three factory methods give the content of Apple's certificates; tests change one property for a forgery.
public struct CertificateProfile: Sendable {
    /// An extension with any bytes.
    public struct Extension: Sendable {
        /// Object identifier in dotted form.
        public var identifier: String
        /// A verifier that does not know a critical extension must reject.
        public var isCritical: Bool
        /// DER of the value, without the octet string around it.
        public var value: [UInt8]

        /// An extension; Apple's markers are not critical and contain a NULL.
        public init(_ identifier: String, isCritical: Bool = false, value: [UInt8] = [0x05, 0x00]) {
            self.identifier = identifier
            self.isCritical = isCritical
            self.value = value
        }
    }

    /// What the issuer hashes with before signing.
    public enum Digest: Sendable, Hashable {
        /// Broken; for tests of what must be rejected.
        case sha1
        /// As on Apple's leafs.
        case sha256
        /// As on Apple's authorities.
        case sha384
    }

    /// CN of the subject.
    public var commonName: String
    /// OU of the subject; left out where nil.
    public var organizationalUnit: String?
    /// O of the subject.
    public var organization: String
    /// C of the subject, two letters.
    public var country = "US"
    /// First second of validity.
    public var notBefore: Date
    /// Last second of validity.
    public var notAfter: Date
    /// Basic constraints: authority or not; nil leaves the extension out.
    public var isAuthority: Bool?
    /// How many authorities may follow below; nil for any number. Only written for authorities.
    public var pathLength: Int?
    /// Nil leaves the extension out.
    public var keyUsage: KeyUsage?
    /// Markers and other extensions, in order.
    public var extensions: [Extension] = []
    /// RFC 5280 name constraints in OpenSSL's notation (`permitted;DNS:example.com`).
    public var nameConstraints: String?
    /// The addresses of OCSP responders.
    public var ocspAddress: String?
    /// What the issuer hashes with.
    public var digest = Digest.sha384
    /// Subject key identifier, and authority key identifier unless self-signed.
    public var hasKeyIdentifiers = true
    /// Grows the certificate by an extension without meaning until its DER has this many bytes, as far as one can tell
    /// before signing: a signature's length varies by a few bytes.
    public var paddedTo: Int?
}

extension CertificateProfile {
    /// A root like Apple Root CA - G3, under a name that cannot be taken for Apple's.
    public static func root(notBefore: Date, notAfter: Date) -> CertificateProfile {
        var profile = CertificateProfile(
            commonName: "Development Root CA", organization: Certificate.developmentOrganization, notBefore: notBefore,
            notAfter: notAfter,
            isAuthority: true,
            keyUsage: [.keyCertSign, .crlSign])
        profile.paddedTo = 583
        return profile
    }

    /// An intermediate like Apple WWDR G6, with its marker.
    public static func intermediate(notBefore: Date, notAfter: Date) -> CertificateProfile {
        var profile = CertificateProfile(
            commonName: "Development Worldwide Developer Relations CA", organizationalUnit: "G6",
            organization: Certificate.developmentOrganization, notBefore: notBefore, notAfter: notAfter,
            isAuthority: true,
            pathLength: 0,
            keyUsage: [.keyCertSign, .crlSign], extensions: [Extension(AppleExtension.intermediate)])
        profile.paddedTo = 794
        return profile
    }

    /// A leaf like Apple's "Prod ECC Mac App Store and iTunes Store Receipt Signing", with its marker.
    public static func leaf(notBefore: Date, notAfter: Date) -> CertificateProfile {
        var profile = CertificateProfile(
            commonName: "Development App Store Receipt Signing",
            organizationalUnit: "Development Worldwide Developer Relations",
            organization: Certificate.developmentOrganization,
            notBefore: notBefore, notAfter: notAfter, isAuthority: false, keyUsage: .digitalSignature,
            extensions: [Extension(AppleExtension.leaf)])
        profile.paddedTo = 1077
        return profile
    }
}
