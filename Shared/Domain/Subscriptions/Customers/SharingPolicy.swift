/// Which of an app's accounts are entitled where several use one Apple account.
///
/// An operator's choice for one Apple account overrides it, see ``AppleAccount/entitledTokens(to:_:most:chosen:)``.
public enum SharingPolicy: String, Sendable, Hashable, CaseIterable {
    /// The account with the strongest evidence is entitled, of equal evidence the one that claimed first.
    case firstWins
    /// None is entitled until an operator chooses.
    case refuse
    /// All are entitled.
    case allow
    /// A restore moves a purchase, also where Apple names another account; a purchase that none restored is given as by `firstWins`.
    case lastRestoreWins
    /// As `lastRestoreWins`, but a restore moves only a purchase that had lapsed, so that no account loses what it uses.
    case lastRestoreWinsIfLapsed

    /// The default of an app without configuration. The account that bought keeps its access, and no account gains access
    /// by signing in with another customer's Apple account; `refuse` would deny buyers, `allow` would give access away.
    public static let standard = SharingPolicy.firstWins

    /// The number of the app's accounts that may claim one Apple account by uploads, and may use it by `allow`, where no other number
    /// is configured: more than one customer has, and fewer than a passed-around copy would reach.
    public static let mostAccounts = 10
}
