import Contracts
import Foundation
import Synchronization

/// Images, messages and defaults that developers configured, by app and environment.
final class RetentionMessageContents: Sendable {
    struct Image: Sendable {
        /// `FULL_SIZE` or `BULLET_POINT`.
        var size: String
        var uploadedAt: Date
    }

    struct Message: Sendable {
        /// The images that it shows.
        var images: Set<String>
        var uploadedAt: Date
    }

    struct Content: Sendable {
        var images: [String: Image] = [:]
        var messages: [String: Message] = [:]
        /// The message of each product and language.
        var defaults: [String: String] = [:]
        var realtimeURL: String?
        /// The address of each performance test.
        var tests: [String: String] = [:]
    }

    let review: RetentionReview
    private let contents = Mutex<[App: Content]>([:])

    init(review: RetentionReview = RetentionReview()) { self.review = review }

    func with<Value: Sendable>(_ app: App, _ body: (inout Content) throws -> Value) rethrows -> Value {
        try contents.withLock { try body(&$0[app, default: Content()]) }
    }
}

/// Apple's decisions about images, messages and performance tests: by the seed and the developer's id alone, so that equal runs have
/// equal decisions. One of ten is rejected, and one of ten waits.
struct RetentionReview: Sendable {
    /// Nil approves all at once.
    var seed: UInt64?
    /// The duration of a review that waits, in seconds.
    static let duration: TimeInterval = 60

    /// Apple's `imageState` and `messageState`.
    enum State: String, Sendable {
        case pending = "PENDING_REVIEW"
        case approved = "APPROVED"
        case rejected = "REJECTED"
    }

    /// In the sandbox all is approved at once.
    func state(of id: String, uploadedAt: Date, in environment: StoreEnvironment, at now: Date) -> State {
        guard environment == .production else { return .approved }
        switch digit(id) {
        case 0: return .rejected
        case 1: return now.timeIntervalSince(uploadedAt) < Self.duration ? .pending : .approved
        default: return .approved
        }
    }

    /// True where a performance test of the address passes.
    func passes(_ url: String) -> Bool { digit(url) != 0 }

    /// From 0 to 9; nil without a seed.
    private func digit(_ text: String) -> UInt64? {
        guard let seed else { return nil }
        // FNV-1a.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in "\(seed) \(text)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return hash % 10
    }
}
