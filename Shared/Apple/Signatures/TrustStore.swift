/// The trusted roots: whole certificates, or just their SHA-256.
///
/// A digest is enough because every payload contains its root: if that certificate has a pinned digest, it is
/// the root, whatever client sent it. Whole certificates are for configured roots, and for payloads that contain another
/// certificate with the root's key.
public struct TrustStore: Sendable {
    /// SHA-256 of Apple Root CA - G3.
    public static let appleRootDigest: [UInt8] = [
        0x63, 0x34, 0x3A, 0xBF, 0xB8, 0x9A, 0x6A, 0x03, 0xEB, 0xB5, 0x7E, 0x9B, 0x3F, 0x5F, 0xA7, 0xBE,
        0x7C, 0x4F, 0x5C, 0x75, 0x6F, 0x30, 0x17, 0xB3, 0xA8, 0xC4, 0x88, 0xC3, 0x65, 0x3E, 0x91, 0x79,
    ]

    /// SHA-256 of Apple Root CA, above the certificates that sign app receipts.
    public static let appleReceiptRootDigest: [UInt8] = [
        0xB0, 0xB1, 0x73, 0x0E, 0xCB, 0xC7, 0xFF, 0x45, 0x05, 0x14, 0x2C, 0x49, 0xF1, 0x29, 0x5E, 0x6E,
        0xDA, 0x6B, 0xCA, 0xED, 0x7E, 0x2C, 0x68, 0xC5, 0xBE, 0x91, 0xB5, 0xA1, 0x10, 0x01, 0xF0, 0x24,
    ]

    /// Apple's root and no other: what production trusts.
    public static let apple = TrustStore(pinnedDigests: [appleRootDigest])

    /// Roots that are trusted whether or not a payload contains them.
    public let roots: [Certificate]
    /// SHA-256 digests of roots that are trusted when a payload contains them.
    public let pinnedDigests: Set<[UInt8]>

    /// Exactly these; nothing is trusted by default.
    public init(roots: [Certificate] = [], pinnedDigests: Set<[UInt8]> = []) {
        self.roots = roots
        self.pinnedDigests = pinnedDigests
    }

    /// The same configured roots, and the one of Apple's that app receipts end in.
    public var forReceipts: TrustStore { TrustStore(roots: roots, pinnedDigests: [Self.appleReceiptRootDigest]) }

    /// These and further roots.
    public func adding(roots further: [Certificate]) -> TrustStore {
        TrustStore(roots: roots + further.filter { !roots.contains($0) }, pinnedDigests: pinnedDigests)
    }

    /// These and every root in a file, DER or PEM, several in one PEM.
    ///
    /// - Throws: `CertificateFault` where the file holds none.
    public func adding(rootsIn file: [UInt8]) throws(CertificateFault) -> TrustStore {
        adding(roots: try Certificate.all(in: file))
    }

    /// Whether this digest makes a certificate a root.
    public func pins(_ sha256: [UInt8]) -> Bool { pinnedDigests.contains(sha256) }
}
