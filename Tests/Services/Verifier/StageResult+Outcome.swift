import Pipeline

extension StageResult {
    /// `forwarded`, or the reason why not.
    var outcome: String {
        switch self {
        case .forward: "forwarded"
        case .discard(let reason), .deadLetter(let reason, _): reason.rawValue
        }
    }
}
