/// Why three certificates are not a trusted chain.
///
/// Texts are OpenSSL's own; nothing branches on them.
public enum ChainFailure: Error, Sendable, Hashable {
    /// No path to a trusted root, or an invalid signature on it.
    case untrusted(String)
    /// The path does not have three certificates: leaf, the intermediate that was named, root.
    case wrongLength(Int)
    /// An authority is above more authorities than it allows.
    case pathLength(String)
    /// An authority certificate that is none, or a leaf that is one.
    case basicConstraints(String)
    /// A key is used for what its certificate does not allow.
    case keyUsage(String)
    /// A certificate lacks the extension that marks its role.
    case missingExtension(String)
    /// The leaf's key is not on P-256.
    case leafKey
}

extension ChainFailure: CustomStringConvertible {
    /// What is wrong, in one sentence.
    public var description: String {
        switch self {
        case .untrusted(let text): "no trusted path: \(text)"
        case .wrongLength(let count): "the path has \(count) certificates instead of leaf, intermediate and root"
        case .pathLength(let text): "path length: \(text)"
        case .basicConstraints(let text): "basic constraints: \(text)"
        case .keyUsage(let text): "key usage: \(text)"
        case .missingExtension(let identifier): "a certificate lacks the extension \(identifier)"
        case .leafKey: "the leaf's key is not an elliptic curve key on P-256"
        }
    }
}
