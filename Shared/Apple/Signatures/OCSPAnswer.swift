import struct Foundation.Date

/// A responder's answer about a certificate; proven to be its issuer's.
public struct OCSPAnswer: Sendable, Hashable {
    /// The three answers.
    public enum Standing: Sendable, Hashable {
        /// Not revoked.
        case good
        /// Revoked at a time, for a reason in OpenSSL's words.
        case revoked(Date, reason: String)
        /// The responder does not know the certificate.
        case unknown
    }

    /// What the responder says of the certificate.
    public let standing: Standing
    /// When it was known to be true.
    public let thisUpdate: Date
    /// Until when it may be relied on.
    public let validUntil: Date

    /// How far clocks may differ, in seconds.
    static let tolerance = 300.0
    /// For how long, in seconds, an answer without an end counts: such a responder always has newer ones.
    static let lifetimeWithoutUpdate = 3600.0

    init(standing: Standing, thisUpdate: Date, nextUpdate: Date?) {
        self.standing = standing
        self.thisUpdate = thisUpdate
        validUntil = nextUpdate ?? thisUpdate.addingTimeInterval(Self.lifetimeWithoutUpdate)
    }
}

/// Why a response says nothing about the certificate.
public enum OCSPFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// Not exactly one OCSP response in DER.
    case unreadable
    /// The responder declines to answer, with its own code.
    case declined(String)
    /// Not signed by the issuer or its delegate.
    case untrusted(String)
    /// The nonce is another one: the answer to another request.
    case otherNonce
    /// It is about other certificates only.
    case otherCertificate
    /// Its validity is over.
    case stale
    /// Its validity has not begun.
    case fromTheFuture

    /// What is wrong, in one sentence.
    public var description: String {
        switch self {
        case .unreadable: "the bytes are not exactly one OCSP response"
        case .declined(let code): "the responder declines to answer: \(code)"
        case .untrusted(let text): "the response is not signed by the certificate's issuer or its delegate: \(text)"
        case .otherNonce: "the response belongs to another request"
        case .otherCertificate: "the response is not about the certificate"
        case .stale: "the response is no longer valid; check the clock of this machine and proxies in between"
        case .fromTheFuture: "the response is not valid yet; check the clock of this machine"
        }
    }
}
