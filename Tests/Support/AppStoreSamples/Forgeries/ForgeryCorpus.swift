import AppStore
import Foundation
import Signatures

/// One signed text, and what the verifier must say about it.
public struct Forgery: Sendable, CustomStringConvertible {
    /// Which of the verifier's doors it is carried to.
    public enum Door: Sendable {
        case notification
        case transaction
        case renewalInfo
        case appTransaction
    }

    /// What was done to it, in words.
    public let name: String
    /// The text as it would arrive.
    public let jws: [UInt8]
    /// Nil where it must pass.
    public let expected: VerificationFailureReason?
    /// Where it is carried to.
    public let door: Door

    /// By default for the notifications' door.
    public init(_ name: String, _ expected: VerificationFailureReason?, _ jws: [UInt8], door: Door = .notification) {
        self.name = name
        self.jws = jws
        self.expected = expected
        self.door = door
    }

    /// The name.
    public var description: String { name }

    /// The verifier's answer: nil if it passed.
    public func rejection(by verifier: SignedDataVerifier, now: Date) -> VerificationFailure? {
        func failure<Value>(_ result: Result<Value, VerificationFailure>) -> VerificationFailure? {
            if case .failure(let rejection) = result { return rejection }
            return nil
        }
        return switch door {
        case .notification: failure(verifier.notification(jws, now: now))
        case .transaction: failure(verifier.transaction(jws, now: now))
        case .renewalInfo: failure(verifier.renewalInfo(jws, now: now))
        case .appTransaction: failure(verifier.appTransaction(jws, now: now))
        }
    }
}

/// Everything that must be rejected, with its reason, and what looks odd and must pass.
///
/// Created with new keys each time; nothing in it was ever signed by Apple.
public struct ForgeryCorpus: Sendable {
    /// What everything was made from.
    public let material: ForgeryMaterial
    /// What must be rejected.
    public let forgeries: [Forgery]
    /// What must pass.
    public let genuine: [Forgery]

    /// New keys and certificates around a point in time.
    public init(now: Date) throws {
        material = try ForgeryMaterial(now: now)
        genuine = try material.genuine()
        forgeries =
            try material.encodings() + material.headers() + material.certificates() + material.chains()
            + material.signatures() + material.times() + material.bodies() + material.identities()
            + material.nestings()
    }

    /// Both, the genuine first.
    public var all: [Forgery] { genuine + forgeries }
}
