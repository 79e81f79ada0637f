import Signatures

import struct Foundation.Date

/// Which certificate is asked about when, and for how long the answer counts. No network, no clock: each event is told.
///
/// An answer is used until its own validity ends. Long before that the next question is due: halfway, and at the latest
/// after ``Pace/refresh``, which bounds how long a revoked certificate goes on being accepted.
public struct RevocationSchedule: Sendable {
    /// How often to ask, in seconds, and about how many.
    public struct Pace: Sendable {
        /// The longest time between two questions about a certificate.
        public var refresh = 3600.0
        /// Between a question without an answer and the next; doubled each time.
        public var firstRetry = 15.0
        /// The end of the doubling.
        public var longestRetry = 900.0
        /// The shortest time between two questions, whatever an answer says about its validity.
        public var shortest = 30.0
        /// How many certificates are kept in mind. Apple signs with a handful.
        public var capacity = 256

        /// With the default of each.
        public init() {}
    }

    /// One certificate, and who can be asked about it.
    public struct Question: Sendable {
        /// What is asked about.
        public let certificate: Certificate
        /// Whose word counts.
        public let issuer: Certificate
    }

    private struct Entry {
        let question: Question
        var due: Date
        var lastNoticed: Date
        var failures = 0
        var answer: OCSPAnswer?

        var isRevoked: Bool {
            if case .revoked = answer?.standing { true } else { false }
        }
    }

    private let pace: Pace
    private var entries: [[UInt8]: Entry] = [:]

    /// No responder has been queried.
    public init(pace: Pace = Pace()) { self.pace = pace }

    /// How many certificates are kept in mind.
    public var count: Int { entries.count }

    /// How many of them are known to be revoked.
    public var revokedCount: Int { entries.values.count(where: \.isRevoked) }

    /// Leaf and intermediate of each chain are worth asking about; new ones are due at once.
    ///
    /// - Returns: the fingerprints of certificates that made room and are forgotten.
    public mutating func notice(_ chains: [ValidatedChain], now: Date) -> [[UInt8]] {
        for chain in chains {
            notice(Question(certificate: chain.leaf, issuer: chain.intermediate), now: now)
            notice(Question(certificate: chain.intermediate, issuer: chain.root), now: now)
        }
        guard entries.count > pace.capacity else { return [] }
        // What was not seen for longest goes first, and what is revoked last.
        let order = entries.sorted { one, other in
            one.value.isRevoked == other.value.isRevoked
                ? one.value.lastNoticed < other.value.lastNoticed : other.value.isRevoked
        }
        let forgotten = order.prefix(entries.count - pace.capacity).map(\.key)
        for fingerprint in forgotten { entries[fingerprint] = nil }
        return forgotten
    }

    private mutating func notice(_ question: Question, now: Date) {
        let fingerprint = question.certificate.sha256
        if entries[fingerprint] == nil {
            entries[fingerprint] = Entry(question: question, due: now, lastNoticed: now)
        } else {
            entries[fingerprint]?.lastNoticed = now
        }
    }

    /// What to ask now. No responder answers for a certificate whose time is over.
    public func due(now: Date) -> [Question] {
        entries.values.filter { $0.due <= now && $0.question.certificate.notAfter >= now }.map(\.question)
    }

    /// What is known once an answer has been used.
    public enum Effect: Sendable, Hashable {
        /// Not revoked.
        case good
        /// Revoked, which was not known before.
        case revoked
        /// Revoked, as was known.
        case stillRevoked
        /// The responder does not know the certificate.
        case unknown
        /// Older than the known response: a replayed one.
        case outdated
    }

    /// A responder answered.
    public mutating func answered(_ question: Question, _ answer: OCSPAnswer, now: Date) -> Effect {
        let fingerprint = question.certificate.sha256
        guard var entry = entries[fingerprint] else { return .outdated }
        if let known = entry.answer, answer.thisUpdate < known.thisUpdate {
            failed(question, now: now)
            return .outdated
        }
        let wasRevoked = entry.isRevoked
        // A responder that has forgotten a certificate does not take back its revocation.
        if !wasRevoked || answer.standing != .unknown { entry.answer = answer }
        entry.failures = 0
        let halfway = answer.thisUpdate.addingTimeInterval(answer.validUntil.timeIntervalSince(answer.thisUpdate) / 2)
        entry.due = min(
            max(halfway, now.addingTimeInterval(pace.shortest)), now.addingTimeInterval(pace.refresh))
        entries[fingerprint] = entry
        switch answer.standing {
        case .good: return .good
        case .revoked: return wasRevoked ? .stillRevoked : .revoked
        case .unknown: return .unknown
        }
    }

    /// There was no response, or an untrusted one. Known responses stay in force while they are valid.
    ///
    /// - Returns: how many times in a row by now.
    @discardableResult
    public mutating func failed(_ question: Question, now: Date) -> Int {
        guard var entry = entries[question.certificate.sha256] else { return 0 }
        entry.failures += 1
        let doublings = Double(1 << min(entry.failures - 1, 16))
        entry.due = now.addingTimeInterval(min(pace.firstRetry * doublings, pace.longestRetry, pace.refresh))
        entries[question.certificate.sha256] = entry
        return entry.failures
    }

    /// The status of each certificate now: a revocation is permanent, any other status ends with its validity.
    public func standings(now: Date) -> [(fingerprint: [UInt8], standing: RevocationRegister.Standing)] {
        entries.map { fingerprint, entry in
            if entry.isRevoked { return (fingerprint, .revoked) }
            guard entry.answer?.standing == .good, let answer = entry.answer, answer.validUntil >= now else {
                return (fingerprint, .unknown)
            }
            return (fingerprint, .good)
        }
    }
}
