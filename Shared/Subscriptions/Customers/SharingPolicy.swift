/// Which of an app's accounts are entitled where several use one Apple account.
///
/// An operator's choice for one Apple account overrides it, see ``AppleAccount/entitledTokens(to:_:chosen:)``.
public enum SharingPolicy: String, Sendable, Hashable, CaseIterable {
    /// The account that claimed first is entitled, the others are not.
    case firstWins
    /// None is entitled until an operator chooses.
    case refuse
    /// All are entitled.
    case allow
    /// The account that restored a purchase last has it, also where Apple names another one; a purchase that none restored is
    /// given as by `firstWins`.
    case lastRestoreWins
    /// As `lastRestoreWins`, but only a restore of a purchase that had lapsed counts, so that none loses what it uses.
    case lastRestoreWinsIfLapsed

    /// The default of an app without configuration. The account that bought keeps its access, and no account gains access
    /// by signing in with another customer's Apple account; `refuse` would deny buyers, `allow` would give access away.
    public static let standard = SharingPolicy.firstWins
}
