/// Proves a certificate chain: from the leaf over the intermediate to a root of the trust store.
///
/// Costs two signature checks on P-384, about a millisecond: keep the result.
public struct ChainValidator: Sendable {
    private let trust: TrustStore

    /// The extensions by which Apple marks App Store certificates are required; no extended key usage is.
    public init(trust: TrustStore) { self.trust = trust }

    /// Signatures, basic constraints, key usage, path length, marker extensions and the kind of the leaf's key, in this order.
    ///
    /// Validity in time is not checked here; the result has the dates.
    ///
    /// - Parameter offered: the third certificate of the payload. It is a root only if its digest is pinned.
    /// - Throws: `OpenSSLFailure` where OpenSSL could not check at all.
    public func validate(
        leaf: Certificate, intermediate: Certificate, offered: Certificate
    ) throws(OpenSSLFailure) -> Result<ValidatedChain, ChainFailure> {
        try root(of: leaf, intermediate: intermediate, offered: offered).flatMap { root in
            guard let leafKey = leaf.p256PublicKey else { return .failure(.leafKey) }
            return .success(ValidatedChain(leaf: leaf, intermediate: intermediate, root: root, leafKey: leafKey))
        }
    }

    /// The root of a chain whose leaf has any kind of key.
    ///
    /// - Parameter acceptsSHA1: also certificates that Apple signed over a SHA-1, until 2023. To forge one, two certificates
    ///   with one SHA-1 would have to be made and Apple to sign one of them, which it does no longer.
    func root(
        of leaf: Certificate, intermediate: Certificate, offered: Certificate, acceptsSHA1: Bool = false
    ) throws(OpenSSLFailure) -> Result<Certificate, ChainFailure> {
        let anchors = trust.roots + (trust.pins(offered.sha256) && !trust.roots.contains(offered) ? [offered] : [])
        guard !anchors.isEmpty else { return .failure(.untrusted("no trusted root comes with it")) }
        let outcome = try PathVerification.run(
            leaf: leaf.handle, intermediate: intermediate.handle, anchors: anchors.map(\.handle),
            acceptsSHA1: acceptsSHA1)
        let root: Certificate
        switch outcome {
        case .rejected(let failure): return .failure(failure)
        case .path(let anchor): root = anchors[anchor]
        }
        if leaf.isAuthority { return .failure(.basicConstraints("the leaf is an authority")) }
        guard intermediate.isAuthority else { return .failure(.basicConstraints("the intermediate is no authority")) }
        guard leaf.keyUsage?.contains(.digitalSignature) == true else {
            return .failure(.keyUsage("the leaf may not sign"))
        }
        guard intermediate.keyUsage?.contains(.keyCertSign) == true else {
            return .failure(.keyUsage("the intermediate may not sign certificates"))
        }
        guard intermediate.hasExtension(AppleExtension.intermediate) else {
            return .failure(.missingExtension(AppleExtension.intermediate))
        }
        guard leaf.hasExtension(AppleExtension.leaf) else { return .failure(.missingExtension(AppleExtension.leaf)) }
        return .success(root)
    }
}
