import Storage
import Synchronization

import struct Foundation.UUID

/// What one key may hold of an instance at a time, so that no caller stops another. The defaults are here and nowhere else.
struct KeyLimits: Sendable {
    /// Requests in progress.
    var requests = 1024
    /// Bytes of request bodies, from their first byte until the answer.
    var bodies = 16 << 20
    /// Bytes of the request bodies of all keys.
    var allBodies = 64 << 20
    /// Event streams.
    var streams = 100
    /// Requests that wait for a change.
    var waits = 256
    /// Seconds of verification and parsing within a minute.
    var verification = 15
}

/// Counts what each key holds. Every limit is looked at before the work, and given back with the ``KeyLease``.
final class KeyBudgets: Sendable {
    /// What is counted.
    enum Resource: Hashable, Sendable {
        case request
        case bodyBytes
        case stream
        case wait
    }

    private struct Holding: Hashable {
        var key: UUID
        var resource: Resource
    }

    private struct State {
        var held: [Holding: Int] = [:]
        /// Of all keys.
        var bodyBytes = 0
    }

    let limits: KeyLimits
    private let state = Mutex(State())

    init(limits: KeyLimits = KeyLimits()) { self.limits = limits }

    /// A place for a request, a stream or a wait; nil where the key has all that it may have.
    func enter(_ key: UUID, _ resource: Resource) -> KeyLease? {
        take(1, key, resource) == nil ? KeyLease(key, resource, 1, budgets: self) : nil
    }

    /// How many places a key holds.
    func held(_ key: UUID, _ resource: Resource) -> Int {
        state.withLock { $0.held[Holding(key: key, resource: resource)] ?? 0 }
    }

    /// Why an amount was not taken.
    enum Shortage: Sendable {
        case ofKey
        case ofAll
    }

    fileprivate func take(_ amount: Int, _ key: UUID, _ resource: Resource) -> Shortage? {
        state.withLock { state in
            let holding = Holding(key: key, resource: resource)
            let held = state.held[holding] ?? 0
            guard held + amount <= limit(of: resource) else { return .ofKey }
            if resource == .bodyBytes {
                guard state.bodyBytes + amount <= limits.allBodies else { return .ofAll }
                state.bodyBytes += amount
            }
            state.held[holding] = held + amount
            return nil
        }
    }

    fileprivate func give(_ amount: Int, _ key: UUID, _ resource: Resource) {
        state.withLock { state in
            let holding = Holding(key: key, resource: resource)
            let left = (state.held[holding] ?? 0) - amount
            state.held[holding] = left > 0 ? left : nil
            if resource == .bodyBytes { state.bodyBytes -= amount }
        }
    }

    private func limit(of resource: Resource) -> Int {
        switch resource {
        case .request: limits.requests
        case .bodyBytes: limits.bodies
        case .stream: limits.streams
        case .wait: limits.waits
        }
    }

    /// The bytes of one body, none yet.
    func body(of key: UUID) -> KeyLease { KeyLease(key, .bodyBytes, 0, budgets: self) }
}

/// What one request or stream holds. Given back when nothing refers to it any more.
final class KeyLease: Sendable {
    private let key: UUID
    private let resource: KeyBudgets.Resource
    private let amount: Mutex<Int>
    private let budgets: KeyBudgets

    fileprivate init(_ key: UUID, _ resource: KeyBudgets.Resource, _ amount: Int, budgets: KeyBudgets) {
        self.key = key
        self.resource = resource
        self.amount = Mutex(amount)
        self.budgets = budgets
    }

    deinit { budgets.give(amount.withLock(\.self), key, resource) }

    /// Takes more.
    /// - Returns: nil where it was taken.
    func grow(by more: Int) -> KeyBudgets.Shortage? {
        let shortage = budgets.take(more, key, resource)
        if shortage == nil { amount.withLock { $0 += more } }
        return shortage
    }
}

extension Problem {
    /// A key has everything of a kind that it may have.
    static func exhausted(_ key: ClientKey, _ what: String, seconds: Int = 1, _ advice: String) -> Problem {
        Problem(
            .tooManyRequests, "The key “\(key.name)” \(what) on this instance; \(advice).",
            headers: [.retryAfter: "\(seconds)"])
    }
}
