/// The decision about one record. A fault of the record is a result; only an unavailable
/// dependency is thrown.
public enum StageResult<Output: Sendable, Reason: StageReason>: Sendable {
    /// Pass this on.
    case forward(Output)
    /// Nothing more to do; the record is counted under the reason.
    case discard(Reason)
    /// The record is at fault. It becomes a dead letter with the reason and one sentence.
    case deadLetter(Reason, message: String)
}

extension StageResult: Equatable where Output: Equatable {}

/// Why a stage did not pass on a record: an enum per service. The raw value is the metric label and the dead-letter
/// header.
public protocol StageReason: RawRepresentable, Sendable, Hashable where RawValue == String {
    /// The record is not the message of its topic.
    static var undecodable: Self { get }

    /// Whether a run of such dead letters suggests a fault of this release. False for what any client can
    /// cause at will: otherwise a client could stop the worker.
    var countsTowardsRejectionLimit: Bool { get }

    /// What was rejected, where it is more than one record: the purchase. Rejections of the same subject count once
    /// towards the limit.
    var subject: String? { get }

    /// Nothing was decided yet: neither good nor bad for the limit.
    var isDeferred: Bool { get }
}

extension StageReason {
    /// The record's key, or else its value, distinguishes it from others.
    public var subject: String? { nil }

    /// Most reasons are final.
    public var isDeferred: Bool { false }
}
