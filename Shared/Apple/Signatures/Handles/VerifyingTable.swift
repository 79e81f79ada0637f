import COpenSSL

/// Multiples of one public key, computed beforehand so that checking signatures under it takes half the time.
///
/// OpenSSL has such a table for the curve's generator G built in, and will make one for any generator of a group. So the
/// key Q is made the generator of a second group, and u₁·G + u₂·Q, nine tenths of the work of a check, becomes two
/// look-ups in tables. Making it takes as long as about five hundred checks and 150 KB: worth it for the few keys that
/// sign everything, and for nothing else. All arithmetic on the curve remains OpenSSL's.
final class VerifyingTable: @unchecked Sendable {
    // because both groups are only read after `init`.
    private let curve: OpaquePointer
    private let keyAsGenerator: OpaquePointer
    private let order: OpaquePointer
    private let field: OpaquePointer

    /// Nil where OpenSSL cannot make a table; the caller then checks without.
    ///
    /// Copies what it needs from the key.
    init?(copying key: OpaquePointer) {
        guard let group = EC_KEY_get0_group(key), let point = EC_KEY_get0_public_key(key),
            let curve = EC_GROUP_dup(group)
        else { return nil }
        guard let keyAsGenerator = EC_GROUP_dup(group), let order = EC_GROUP_get0_order(curve),
            let field = EC_GROUP_get0_field(curve)
        else {
            EC_GROUP_free(curve)
            return nil
        }
        guard EC_GROUP_set_generator(keyAsGenerator, point, order, EC_GROUP_get0_cofactor(curve)) == 1,
            EC_GROUP_precompute_mult(keyAsGenerator, nil) == 1, EC_GROUP_have_precompute_mult(keyAsGenerator) == 1
        else {
            EC_GROUP_free(curve)
            EC_GROUP_free(keyAsGenerator)
            ERR_clear_error()
            return nil
        }
        self.curve = curve
        self.keyAsGenerator = keyAsGenerator
        // Both belong to the group and live as long.
        self.order = order
        self.field = field
    }

    deinit {
        EC_GROUP_free(curve)
        EC_GROUP_free(keyAsGenerator)
    }

    /// Whether r‖s, 64 bytes, is a signature over this digest of 32 bytes: FIPS 186-4, 6.4.2.
    ///
    /// Nil where OpenSSL could not compute, which says nothing about the signature.
    func isValid(_ signature: UnsafeBufferPointer<UInt8>, overDigest digest: [UInt8]) -> Bool? {
        guard signature.count == 64, let bytes = signature.baseAddress else { return false }
        guard let context = BN_CTX_new() else { return nil }
        BN_CTX_start(context)
        defer {
            BN_CTX_end(context)
            BN_CTX_free(context)
        }
        // Once one of these fails all later ones do: the last result is enough.
        let r = BN_CTX_get(context)
        let s = BN_CTX_get(context)
        let e = BN_CTX_get(context)
        let u1 = BN_CTX_get(context)
        let u2 = BN_CTX_get(context)
        guard let product = BN_CTX_get(context), BN_bin2bn(bytes, 32, r) != nil, BN_bin2bn(bytes + 32, 32, s) != nil,
            BN_bin2bn(digest, 32, e) != nil
        else { return nil }
        guard BN_is_zero(r) == 0, BN_is_zero(s) == 0, BN_cmp(r, order) < 0, BN_cmp(s, order) < 0 else { return false }
        // Into s goes its inverse: s itself is not needed again.
        guard BN_mod_inverse(s, s, order, context) != nil, BN_mod_mul(u1, e, s, order, context) == 1,
            BN_mod_mul(u2, r, s, order, context) == 1
        else { return nil }
        guard let sum = EC_POINT_new(curve) else { return nil }
        defer { EC_POINT_free(sum) }
        guard let other = EC_POINT_new(curve) else { return nil }
        defer { EC_POINT_free(other) }
        guard EC_POINT_mul(curve, sum, u1, nil, nil, context) == 1,
            EC_POINT_mul(keyAsGenerator, other, u2, nil, nil, context) == 1,
            EC_POINT_add(curve, sum, sum, other, context) == 1
        else { return nil }
        guard EC_POINT_is_at_infinity(curve, sum) == 0 else { return false }
        return isCoordinate(r, of: sum, context, scratch: (e, u1, product))
    }

    /// Whether the point's x, reduced by the order, is r.
    ///
    /// x is X/Z², and dividing costs a tenth of the whole check: r·Z² is compared with X instead. x may have been reduced
    /// from r + n, which is possible only while that is within the field.
    private func isCoordinate(
        _ r: OpaquePointer?, of point: OpaquePointer, _ context: OpaquePointer,
        scratch: (OpaquePointer?, OpaquePointer?, OpaquePointer)
    ) -> Bool? {
        let (x, z, product) = scratch
        guard EC_POINT_get_Jprojective_coordinates_GFp(curve, point, x, nil, z, context) == 1,
            BN_mod_sqr(z, z, field, context) == 1, BN_mod_mul(product, r, z, field, context) == 1
        else { return nil }
        if BN_cmp(product, x) == 0 { return true }
        guard BN_add(r, r, order) == 1 else { return nil }
        guard BN_cmp(r, field) < 0 else { return false }
        guard BN_mod_mul(product, r, z, field, context) == 1 else { return nil }
        return BN_cmp(product, x) == 0
    }
}
