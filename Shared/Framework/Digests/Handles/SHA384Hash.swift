import COpenSSL

/// SHA-384, by which StoreKit binds what it signs to a device.
public enum SHA384Hash {
    /// The 48 bytes of the digest.
    public static func digest(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 48) { buffer, count in
            SHA384(bytes, bytes.count, buffer.baseAddress)
            count = 48
        }
    }
}
