/// The keys with which one app may call Apple's API.
///
/// Two of them make a rotation without a gap: add the new one as the second, revoke the old one in App Store Connect, take it
/// out. A key that Apple refuses is replaced by the next one, and the one that works is kept.
public struct APICredentials: Sendable {
    /// In the order in which they are tried.
    public let keys: [APIKey]

    /// Without a key every call is rejected as unauthorized.
    public init(keys: [APIKey]) { self.keys = keys }
}
