import Chassis
import Pipeline
import Storage
import Synchronization

import struct Foundation.Date
import struct Foundation.UUID

/// The keys that are accepted, in memory: a request costs no look-up of its key, and a wrong key no look-up at all.
///
/// Read again every second, so that a revocation is effective everywhere within five. While Postgres is away no one can revoke a
/// key either: for an hour the table serves as it was read last, and what needs no database is answered.
final class KeyTable: Service {
    private struct State {
        var keys: [[UInt8]: ClientKey] = [:]
        var cursorSecret: [UInt8]?
        var readAt: ContinuousClock.Instant?
        /// By the minute; written with the next turn.
        var uses: [UUID: Date] = [:]
        var written: [UUID: Date] = [:]
    }

    static let interval = Duration.seconds(1)
    /// How old the table may be.
    static let limit = Duration.seconds(3600)

    private let state = Mutex(State())
    private let store: ClientKeyStore
    private let clock: ProcessClock
    private let isRead: ReadinessCheck
    private let logger: Logger

    init(store: ClientKeyStore, clock: ProcessClock, isRead: ReadinessCheck, logger: Logger) {
        self.store = store
        self.clock = clock
        self.isRead = isRead
        self.logger = logger
    }

    func run() async throws {
        await RetryLoop(clock: ContinuousClock()) { error in
            self.logger.warning(
                "Could not read the API keys of app backends; retrying", metadata: ["error": "\(error)"])
        }.run { _ in
            try await self.turn()
            return Self.interval
        }
    }

    /// Reads the keys and writes when they were used.
    func turn() async throws {
        // Before the question: what is revoked after it may be missing in the answer.
        let instant = clock.instant()
        let (keys, cursorSecret) = try await store.active()
        let uses = state.withLock { state in
            state.keys = Dictionary(keys.map { ($0.digest, $0) }) { first, _ in first }
            state.cursorSecret = cursorSecret
            state.readAt = instant
            defer { state.uses = [:] }
            return state.uses.filter { state.written[$0.key] != $0.value }
        }
        isRead.passes()
        do {
            try await store.used(uses)
            state.withLock { $0.written.merge(uses) { $1 } }
        } catch {
            // Told again with the next request of the key.
            logger.warning("Could not note when API keys were used", metadata: ["error": "\(error)"])
        }
    }

    /// Whether a key that was accepted before still is, for requests that last.
    func isActive(_ id: UUID) -> Bool {
        let now = clock.now()
        return state.withLock { state in
            guard let age = state.readAt.map({ $0.duration(to: clock.instant()) }), age < Self.limit else {
                return false
            }
            return state.keys.values.contains { $0.id == id && $0.isValid(at: now) }
        }
    }

    /// What makes cursors unforgeable; nil until the database was read once.
    var cursorSecret: [UInt8]? { state.withLock(\.cursorSecret) }

    /// The key of an `Authorization` header.
    func key(authorization: String?) throws(Problem) -> ClientKey {
        guard let authorization else {
            throw Problem(
                .missingKey,
                "Send the header “Authorization: Bearer sk_live_…” with a key of `storekeeper keys create`.",
                headers: [.wwwAuthenticate: "Bearer"])
        }
        let now = clock.now()
        let words = authorization.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer", let secret = ClientKeySecret(words[1]) else {
            throw Self.invalid("The Authorization header holds no key of this service; it has to be “Bearer sk_…”.")
        }
        let digest = secret.digest
        let (key, age) = state.withLock { ($0.keys[digest], $0.readAt.map { $0.duration(to: clock.instant()) }) }
        guard let age, age < Self.limit else {
            throw Problem(
                .unavailable, "API keys cannot be checked, because the database does not answer; send it again later.",
                headers: [.retryAfter: "5"])
        }
        guard let key, key.isValid(at: now) else {
            throw Self.invalid("The key is unknown, expired or revoked; `storekeeper keys list` shows which are valid.")
        }
        let minute = Date(timeIntervalSince1970: (now.timeIntervalSince1970 / 60).rounded(.down) * 60)
        state.withLock { $0.uses[key.id] = minute }
        return key
    }

    private static func invalid(_ detail: String) -> Problem {
        Problem(.invalidKey, detail, headers: [.wwwAuthenticate: #"Bearer error="invalid_token""#])
    }
}
