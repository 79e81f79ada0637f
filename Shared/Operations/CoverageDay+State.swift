import Storage

extension CoverageDay {
    /// How far a day is compared with Apple's history.
    package enum State: String, Sendable {
        /// Everything that Apple lists is in the ledger or among the dead letters.
        case complete
        /// Apple lists what is neither, and it was not recovered.
        case missing
        case inProgress = "in progress"
        /// The day cannot become complete any more.
        case givenUp = "given up"

        /// Whether the day stays incomplete without help.
        package var needsHelp: Bool { self == .missing || self == .givenUp }
    }

    package var state: State {
        if completedAt != nil { return .complete }
        if givenUp != nil { return .givenUp }
        return counts.stillMissing > 0 ? .missing : .inProgress
    }
}
