import COpenSSL
import Synchronization

/// One owner of one public key on P-256, prepared for checking signatures.
final class VerifyingKeyHandle: @unchecked Sendable {
    // because the EC_KEY is only read after `init`, OpenSSL allows checking with one key from several threads, and the
    // rest is behind a lock.
    private let key: OpaquePointer
    private let tableAfter: Int
    private let preparation = Mutex(Preparation())

    /// A key that is used again and again gets a table.
    private struct Preparation {
        var uses = 0
        var table: VerifyingTable?
    }

    /// Nil where the bytes are not a point on P-256.
    ///
    /// - Parameter tableAfter: number of checks after which a table is computed. Before, it would cost more than it saves.
    init?(uncompressedPoint point: [UInt8], tableAfter: Int = 500) {
        guard let key = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1) else { return nil }
        // EC_KEY_oct2key checks that the point is on the curve, EC_KEY_check_key that it is not at infinity.
        guard EC_KEY_oct2key(key, point, point.count, nil) == 1, EC_KEY_check_key(key) == 1 else {
            EC_KEY_free(key)
            ERR_clear_error()
            return nil
        }
        self.key = key
        self.tableAfter = tableAfter
    }

    deinit { EC_KEY_free(key) }

    /// Whether r‖s, 64 bytes, is a signature over this digest.
    ///
    /// Any other outcome, lack of memory included, is no.
    func isValid(_ signature: [UInt8], overDigest digest: [UInt8]) -> Bool {
        guard signature.count == 64, digest.count == 32 else { return false }
        return signature.withUnsafeBufferPointer { signature in
            if let answer = table()?.isValid(signature, overDigest: digest) { return answer }
            return isValidWithoutTable(signature, overDigest: digest)
        }
    }

    /// The table, if there is one by now. The check that computes it takes some milliseconds longer; others continue without.
    private func table() -> VerifyingTable? {
        let (table, isDue) = preparation.withLock { preparation in
            preparation.uses += 1
            return (preparation.table, preparation.uses == tableAfter)
        }
        guard isDue, let made = VerifyingTable(copying: key) else { return table }
        preparation.withLock { $0.table = made }
        return made
    }

    private func isValidWithoutTable(_ signature: UnsafeBufferPointer<UInt8>, overDigest digest: [UInt8]) -> Bool {
        guard let parts = ECDSA_SIG_new(), let bytes = signature.baseAddress else { return false }
        defer { ECDSA_SIG_free(parts) }
        guard let r = BN_bin2bn(bytes, 32, nil) else { return false }
        guard let s = BN_bin2bn(bytes + 32, 32, nil) else {
            BN_free(r)
            return false
        }
        // "set0" takes both over on success; on failure, which only nil arguments cause, they would stay here.
        guard ECDSA_SIG_set0(parts, r, s) == 1 else { return false }
        // 1 valid, 0 not, -1 could not be checked (r or s out of range, for one).
        let result = ECDSA_do_verify(digest, 32, parts, key)
        if result != 1 { ERR_clear_error() }
        return result == 1
    }
}
