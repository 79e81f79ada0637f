/// What a stage decided about one record. What is wrong with the record is a result; only an unavailable
/// dependency is thrown.
public enum StageResult<Output: Sendable, Reason: StageReason>: Sendable {
    /// Hand this on.
    case forward(Output)
    /// Nothing more to do; the record is accounted for under the reason.
    case discard(Reason)
    /// The record is at fault. It goes to the dead letters with the reason and one sentence for people.
    case deadLetter(Reason, message: String)
}

extension StageResult: Equatable where Output: Equatable {}

/// Why a stage did not forward a record: an enum per service. The raw value is the metric label, the dead-letter header
/// and a test's expectation in one.
public protocol StageReason: RawRepresentable, Sendable, Hashable where RawValue == String {
    /// The record is not the message its topic promises.
    static var undecodable: Self { get }

    /// Whether a run of such dead letters suggests that our own release is at fault. False for what a stranger can
    /// cause at will: otherwise a stranger could stop the worker.
    var countsTowardsRejectionLimit: Bool { get }

    /// What was refused, where it is more than one record can say: the purchase. Rejections of the same subject count once
    /// towards the limit.
    var subject: String? { get }

    /// Nothing was decided yet: neither good nor bad for the limit.
    var isPostponed: Bool { get }
}

extension StageReason {
    /// The record's key, or else its value, tells it from others.
    public var subject: String? { nil }

    /// Most reasons are final.
    public var isPostponed: Bool { false }
}
