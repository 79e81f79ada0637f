import Digests

import struct Foundation.UUID

/// A proven payload about purchases: a notification, or one signed object on its own.
///
/// Only the verifier creates one.
public enum ProvenPart: Sendable {
    /// A notification with everything in it.
    case notification(ProvenNotification)
    /// A transaction that names its purchase.
    case transaction(Proven<JWSTransactionDecodedPayload>)
    /// Renewal info, with the app that its sender claims.
    case renewalInfo(Proven<JWSRenewalInfoDecodedPayload>, bundleId: String)
    /// The app itself was acquired.
    case appTransaction(Proven<AppTransaction>)
}

extension ProvenPart {
    /// Apple's environment of the purchase.
    public var environment: AppStoreEnvironment? {
        switch self {
        case .notification(let proven): proven.environment
        case .transaction(let proven): proven.value.environment
        case .renewalInfo(let proven, _): proven.value.environment
        case .appTransaction(let proven): proven.value.receiptType
        }
    }

    /// Bundle identifier of the app.
    public var bundleId: String? {
        switch self {
        case .notification(let proven): proven.bundleId
        case .transaction(let proven): proven.value.bundleId
        case .renewalInfo(_, let bundleId): bundleId
        case .appTransaction(let proven): proven.value.bundleId
        }
    }
}

extension CompactJWS {
    /// An id for what has none of Apple's: of the signed content, without the signature, of which there are many for the
    /// same bytes.
    public var partIdentifier: UUID { partIdentifier(with: nil) }

    /// - Parameter status: what Apple answered beside the object: another answer is another event.
    public func partIdentifier(with status: UnsignedStatus?) -> UUID { .own(of: signed, status?.json[...] ?? []) }
}

extension UUID {
    /// A UUID of version 8 for bytes without an id of Apple's. It begins with 32 zero bits and is therefore less than any
    /// of Apple's. Of two events signed in the same millisecond the greater id wins: so a notification prevails
    /// over the objects in it.
    static func own(of bytes: ArraySlice<UInt8>, _ more: ArraySlice<UInt8> = []) -> UUID {
        var hash = SHA256Hash()
        hash.update(bytes)
        hash.update(more)
        let digest = hash.digest()
        return UUID(
            uuid: (
                0, 0, 0, 0, digest[0], digest[1], digest[2] & 0x0f | 0x80, digest[3], digest[4] & 0x3f | 0x80,
                digest[5],
                digest[6], digest[7], digest[8], digest[9], digest[10], digest[11]
            ))
    }
}
