import Digests
import Signatures
import StrictJSON

import struct Foundation.UUID

/// How StoreKit on a device marks transactions, renewal information and the app transaction, so that a copy of one is of no
/// use on another device. What Apple's servers hand out has no such mark.
///
/// <https://developer.apple.com/documentation/storekit/apptransaction/deviceverification>
public struct DeviceVerification: Sendable, Hashable {
    private let nonce: UUID
    private let digest: [UInt8]

    /// - Parameter json: a payload that is proven to be Apple's; nil where it has no mark.
    public init?(json: JSONValue) {
        guard let text = json["deviceVerification"]?.string,
            let digest = Base64.decode(Array(text.utf8)[...], .standard),
            let nonce = json["deviceVerificationNonce"]?.string.flatMap({ UUID(uuidString: $0) })
        else { return nil }
        self.nonce = nonce
        self.digest = digest
    }

    /// Whether it was made on a device: SHA-384 over the nonce and then the identifier, both in lower case.
    ///
    /// - Parameter device: what `AppStore.deviceVerificationID` is there.
    public func isOf(_ device: UUID) -> Bool {
        digest == SHA384Hash.digest(Array((nonce.uuidString + device.uuidString).lowercased().utf8))
    }
}
