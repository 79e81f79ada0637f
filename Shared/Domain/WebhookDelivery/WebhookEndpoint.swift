import Contracts

import struct Foundation.Date
import struct Foundation.UUID

/// Where webhooks of one environment are sent, and which of them.
package struct WebhookEndpoint: Sendable, Equatable, Identifiable {
    /// What its requests are.
    package enum Kind: String, Sendable, Equatable, CaseIterable {
        /// Changes of purchases, as ``WebhookBody/of(_:)`` writes them.
        case changes
        /// Apple's notifications, with the body that Apple sends: for a server that Apple called before. It is never tested, because
        /// it knows nothing but Apple's notifications.
        case apple
    }

    /// What is sent to it.
    package enum State: String, Sendable, Equatable, CaseIterable {
        /// Only the signed `webhook.test`, until a request is answered with 2xx; changes wait.
        case testing
        /// Changes are sent.
        case active
        /// Nothing, because an operator paused it; changes wait.
        case paused
        /// Nothing, because it answered 410 or failed for days; changes wait.
        case disabled
    }

    /// Names it in commands, metrics and logs.
    package let id: UUID
    /// What it gets.
    package var kind: Kind
    /// The only environment of which it gets changes.
    package var environment: StoreEnvironment
    /// As ``WebhookURL`` accepts it.
    package var url: String
    /// Which changes it gets.
    package var filter: WebhookFilter
    /// Whether the events of a purchase wait for one another; otherwise each waits for itself alone.
    package var isOrdered: Bool
    /// What is sent to it now.
    package var state: State
    /// Of the secret, from 1; rises with each rotation.
    package var generation: Int32 = 1
    /// The last rotation; nil where the first secret is in use.
    package var rotatedAt: Date?
    /// When an operator created it.
    package var createdAt: Date
    /// Changes that were applied earlier are not sent.
    package var startsAt: Date

    /// An endpoint that is to be tested; one of kind apple is active at once.
    package init(
        id: UUID, environment: StoreEnvironment, url: String, filter: WebhookFilter = WebhookFilter(),
        isOrdered: Bool = true, kind: Kind = .changes, state: State? = nil, createdAt: Date
    ) {
        self.id = id
        self.kind = kind
        self.environment = environment
        self.url = url
        self.filter = filter
        self.isOrdered = isOrdered
        self.state = state ?? (kind == .apple ? .active : .testing)
        self.createdAt = createdAt
        startsAt = createdAt
    }
}

/// Which changes an endpoint gets: those that all three lists admit. An empty list admits all.
package struct WebhookFilter: Sendable, Equatable {
    /// Bundle identifiers of apps.
    package var bundleIds: [String]
    /// Apple's types, or types and subtypes: `DID_RENEW`, `EXPIRED/VOLUNTARY`. A type admits all of its subtypes.
    package var events: [String]
    /// Facts of which one has to change; `accessUntil` alone means: only when access changes.
    package var facts: [String]

    /// Everything, where nothing is given.
    package init(bundleIds: [String] = [], events: [String] = [], facts: [String] = []) {
        self.bundleIds = bundleIds
        self.events = events
        self.facts = facts
    }

    /// Whether an endpoint with it gets a change. The database decides by the same rule in SQL, and a test compares both.
    package func admits(_ message: SubscriptionChanged) -> Bool {
        (bundleIds.isEmpty || bundleIds.contains(message.bundleId))
            && (events.isEmpty || events.contains(message.event)
                || events.contains(String(message.event.prefix { $0 != "/" })))
            && (facts.isEmpty || message.changes.contains { facts.contains($0.fact) })
    }
}
