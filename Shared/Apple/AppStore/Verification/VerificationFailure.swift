/// Why a signed payload is not used.
public struct VerificationFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The longest message in bytes of UTF-8; it becomes a header of the dead letter.
    public static let maximumMessageBytes = 512

    /// The reason, by which it is counted.
    public let reason: VerificationFailureReason
    /// What was found and what to do about it. Never a part of the payload beyond names of fields, app and environment.
    public let message: String
    /// The app of a payload that Apple signed; nil before that is known.
    public let bundleId: String?
    /// Apple signed it for a configured app: only Apple or this deployment can cause such a failure.
    public let concernsOwnApp: Bool
    /// The certificate chain that is not proven yet, by a digest; nil for other reasons than
    /// ``VerificationFailureReason/chainDeferred``.
    public let chain: [UInt8]?

    package init(
        _ reason: VerificationFailureReason, _ message: String, bundleId: String? = nil, concernsOwnApp: Bool = false,
        chain: [UInt8]? = nil
    ) {
        self.reason = reason
        self.chain = chain
        var text = message[...]
        while text.utf8.count > Self.maximumMessageBytes { text.removeLast() }
        self.message = String(text)
        self.bundleId = bundleId
        self.concernsOwnApp = concernsOwnApp
    }

    /// The same failure, in the JWS of a member.
    func nested(in member: String, bundleId: String?) -> VerificationFailure {
        VerificationFailure(reason, "\(member): \(message)", bundleId: bundleId, concernsOwnApp: true, chain: chain)
    }

    /// The same failure of a payload that Apple signed, and that names this app.
    func naming(_ bundleId: String?) -> VerificationFailure {
        VerificationFailure(
            reason, message, bundleId: bundleId ?? self.bundleId, concernsOwnApp: concernsOwnApp, chain: chain)
    }

    /// The same failure, which concerns a configured app if what Apple signed names one.
    func judged(by registry: AppRegistry) -> VerificationFailure {
        guard reason.isProven, let bundleId, registry.app(bundleId) != nil else { return self }
        return VerificationFailure(reason, message, bundleId: bundleId, concernsOwnApp: true)
    }

    /// Reason and message.
    public var description: String { "\(reason.rawValue): \(message)" }
}
