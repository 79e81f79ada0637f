import Contracts
import Storage
import Synchronization

import struct Foundation.Date
import struct Foundation.UUID

/// Reads what single accounts may use now, several in one statement: half of a statement's time in the database is its start.
///
/// A look-up without others beside it does not wait. Under load, look-ups that arrive while statements are under way go into
/// the next one together.
final class EntitlementLookups: Sendable {
    typealias Line = EntitlementStore.Line

    private struct Lookup {
        var account: UUID
        var environment: StoreEnvironment
        var bundleIds: [String]?
        var moment: Date
        var answer: CheckedContinuation<[Line], any Error>

        /// Other look-ups of the same statement may be about other apps of the account, or a moment before.
        func concerns(_ line: Line) -> Bool {
            (bundleIds?.contains(line.bundleId) ?? true)
                && (line.source != .access || line.endsAt.map { $0 > moment } ?? true)
        }
    }

    private struct State {
        /// A statement is of one environment.
        var waiting: [StoreEnvironment: FairQueue<Lookup>] = [:]
        /// Environments whose turn it is, the next one first.
        var turns: [StoreEnvironment] = []
        var count = 0
        /// Number of statements.
        var underWay = 0
    }

    /// Accounts in one statement; more would make the first wait for the last.
    private static let together = 32
    /// Statements under way, as long as few look-ups wait.
    private static let usual = 2

    private let state = Mutex(State())
    private let database: Database

    init(_ database: Database) { self.database = database }

    /// The lines of one account, in the order of the statement.
    /// - Parameters:
    ///   - bundleIds: nil means all apps.
    ///   - moment: now.
    func lines(
        of account: UUID, in environment: StoreEnvironment, bundleIds: [String]?, at moment: Date
    ) async throws -> [Line] {
        if begins() {
            defer { goOn() }
            let command = EntitlementStore.command(
                of: [account], in: environment, bundleIds: bundleIds, from: moment)
            return try EntitlementStore.lines(try await database.rows(command))
        }
        return try await withCheckedThrowingContinuation { answer in
            let starts: Bool? = state.withLock { state in
                guard state.count < Database.waitingLimit else { return nil }
                let lookup = Lookup(
                    account: account, environment: environment, bundleIds: bundleIds, moment: moment, answer: answer)
                if state.waiting[environment]?.isEmpty ?? true { state.turns.append(environment) }
                state.waiting[environment, default: FairQueue()].append(lookup, of: ServedKey.id ?? .zero)
                state.count += 1
                guard state.underWay < Self.usual || state.count > Self.together else { return false }
                state.underWay += 1
                return true
            }
            switch starts {
            case nil: answer.resume(throwing: Database.tooManyWait)
            case .some(true): goOn()
            case .some(false): break
            }
        }
    }

    /// A look-up asks at once, for itself, where none waits and few statements are under way.
    private func begins() -> Bool {
        state.withLock { state in
            guard state.count == 0, state.underWay < Self.usual else { return false }
            state.underWay += 1
            return true
        }
    }

    /// Has a statement that ended followed by one of what waits.
    private func goOn() {
        let lookups = next()
        guard !lookups.isEmpty else { return }
        // Not on behalf of one key: the statement is of several.
        Task { await ServedKey.$id.withValue(nil) { await run(lookups) } }
    }

    /// Works until nothing waits.
    private func run(_ first: [Lookup]) async {
        var lookups = first
        while !lookups.isEmpty {
            do {
                let lines = try await lines(of: lookups)
                for lookup in lookups {
                    lookup.answer.resume(returning: (lines[lookup.account] ?? []).filter(lookup.concerns))
                }
            } catch {
                for lookup in lookups { lookup.answer.resume(throwing: error) }
            }
            lookups = next()
        }
    }

    /// The look-ups of the next statement, all of one environment; empty where nothing waits.
    private func next() -> [Lookup] {
        state.withLock { state in
            guard !state.turns.isEmpty else {
                state.underWay -= 1
                return []
            }
            let environment = state.turns.removeFirst()
            let taken = state.waiting[environment]?.popFirst(Self.together) ?? []
            state.count -= taken.count
            if state.waiting[environment]?.isEmpty == false { state.turns.append(environment) }
            return taken
        }
    }

    private func lines(of lookups: [Lookup]) async throws -> [UUID: [Line]] {
        let (environment, apps) = (lookups[0].environment, lookups[0].bundleIds)
        let command = EntitlementStore.command(
            of: Array(Set(lookups.map(\.account))), in: environment,
            bundleIds: lookups.allSatisfy { $0.bundleIds == apps } ? apps : nil,
            from: lookups.map(\.moment).min() ?? .distantPast)
        return Dictionary(grouping: try EntitlementStore.lines(try await database.rows(command)), by: \.account)
    }
}
