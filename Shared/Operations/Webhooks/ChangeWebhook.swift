import Postgres
import Storage
import WebhookDelivery

import struct Foundation.UUID

/// Changes an endpoint of webhooks: its secret, or whether anything is sent to it.
package struct ChangeWebhook: Sendable {
    /// What is changed.
    package enum Change: Sendable, Equatable {
        /// Begins a new secret; the old one signs for a day.
        case rotate
        case pause
        /// - Parameter fromNow: what waits is given up.
        case resume(fromNow: Bool)
        /// With what waits.
        case remove
        /// Sends `webhook.test`.
        case test

        fileprivate var name: String {
            switch self {
            case .rotate: "rotate"
            case .pause: "pause"
            case .resume(let fromNow): fromNow ? "resume --from-now" : "resume"
            case .remove: "remove"
            case .test: "test"
            }
        }
    }

    let entry: WebhookEndpointStore.Entry
    let waiting: Int
    let change: Change

    /// Reads the endpoint.
    /// - Parameter generation: of the secret that the person saw: a rotation that is sent twice must not end the secret that the
    ///   receiver has. Nil: any.
    /// - Throws: `OperationError` where there is none, where the secret is another one, and for a test of one that is disabled or
    ///   of kind apple.
    package init(
        _ change: Change, of id: UUID, seen generation: Int32? = nil, on connection: PostgresConnection
    ) async throws {
        self.change = change
        entry = try await Self.find(id, on: connection)
        if change == .rotate, let generation, entry.endpoint.generation != generation { throw Self.rotated }
        if change == .test, entry.endpoint.kind == .apple {
            throw OperationError(
                "an endpoint of kind apple gets Apple's notifications alone; storekeeper test-notification asks Apple for one, "
                    + "which it gets")
        }
        // The service sends nothing to it, so that the person would wait in vain.
        if change == .test, entry.endpoint.state == .disabled {
            throw OperationError("the endpoint is disabled and gets no test; resume it, which tests it first")
        }
        waiting = Int(try await WebhookEndpointStore(connection).waiting()[id]?.count ?? 0)
    }

    /// - Throws: `OperationError` where there is no such endpoint.
    package static func find(_ id: UUID, on connection: PostgresConnection) async throws -> WebhookEndpointStore.Entry {
        guard let entry = try await WebhookEndpointStore(connection).find(id) else { throw unknown(id) }
        return entry
    }

    package var plan: OperationPlan {
        let id = entry.endpoint.id.uuidString.lowercased()
        var doubt: String?
        let effect =
            switch change {
            case .rotate:
                "A new secret would sign; the secret before it signs, too, for a day."
            case .pause: "Nothing would be sent to \(entry.endpoint.url); changes would wait."
            case .resume(false):
                (entry.endpoint.kind == .apple ? "What" : "The receiver would be tested, and then what")
                    + " waits would be sent: events of \(waiting.counted("purchase"))."
            case .resume(true): "Events of \(waiting.counted("purchase")) that wait would be given up."
            case .remove:
                "The endpoint \(id) and what waits for it would be deleted: events of \(waiting.counted("purchase"))."
            case .test: "\(entry.endpoint.url) would get webhook.test."
            }
        switch change {
        case .remove where waiting > 0: doubt = "Changes that wait would not be sent."
        case .resume(true) where waiting > 0: doubt = "Changes that wait would not be sent; they can be replayed."
        default: break
        }
        return OperationPlan(
            "webhooks \(change.name)", on: WebhookSubject.text(entry.endpoint.id), about: nil, [effect], doubt: doubt)
    }

    /// The change and its row of the audit log are written both or neither.
    /// - Returns: the generation of the secret afterwards.
    /// - Throws: `OperationError` where the endpoint was removed meanwhile.
    @discardableResult
    package func perform(on connection: PostgresConnection, by performer: Performer) async throws -> Int32 {
        let (store, id, audit) = (WebhookEndpointStore(connection), entry.endpoint.id, plan.action(of: performer))
        switch change {
        case .rotate:
            guard
                let generation = try await store.rotate(
                    id, from: entry.endpoint.generation, at: performer.now, audit: audit)
            else { throw Self.rotated }
            return generation
        case .pause: guard try await store.pause(id, audit: audit) else { throw Self.unknown(id) }
        case .resume(let fromNow):
            guard try await store.resume(id, fromNow: fromNow, at: performer.now, audit: audit) else {
                throw Self.unknown(id)
            }
        case .remove: guard try await store.remove(id, audit: audit) else { throw Self.unknown(id) }
        case .test:
            guard try await store.requestTest(id, at: performer.now, audit: audit) else { throw Self.unknown(id) }
        }
        return entry.endpoint.generation
    }

    private static let rotated = OperationError(
        "the secret was rotated meanwhile, or the endpoint was removed; give the receiver the new secret before you rotate again"
    )

    private static func unknown(_ id: UUID) -> OperationError {
        OperationError(
            "there is no webhook endpoint \(id.uuidString.lowercased()); storekeeper webhooks list shows all", .notFound
        )
    }
}
