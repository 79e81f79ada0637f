/// What to do where one Apple account feeds several of the app's accounts.
///
/// What an operator chose for one Apple account outweighs it, see ``AppleAccount/entitledTokens(_:chosen:)``.
public enum SharingPolicy: String, Sendable, Hashable, CaseIterable {
    /// The account that claimed first is entitled, the others are not.
    case firstWins
    /// None is entitled until an operator chooses.
    case refuse
    /// All are entitled.
    case allow

    /// What holds for an app that nobody configured. Whoever bought keeps what was bought, and nobody gains by signing
    /// in with somebody else's Apple account; `refuse` would take access from buyers, `allow` would give it away.
    public static let standard = SharingPolicy.firstWins
}
