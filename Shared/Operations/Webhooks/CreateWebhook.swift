import Contracts
import Postgres
import Storage
import WebhookDelivery

import struct Foundation.UUID

/// Creates an endpoint of webhooks. Of operators alone: an API key must not make the service send requests.
package struct CreateWebhook: Sendable {
    /// As in the audit log.
    package static let name = "webhooks create"
    let url: WebhookURL
    let environment: StoreEnvironment
    let filter: WebhookFilter
    let isOrdered: Bool
    let kind: WebhookEndpoint.Kind

    /// - Throws: `OperationError` where the URL or the filter is not accepted.
    package init(
        url text: String, environment: StoreEnvironment, filter: WebhookFilter, isOrdered: Bool,
        kind: WebhookEndpoint.Kind = .changes
    ) throws(OperationError) {
        do throws(WebhookURL.Objection) {
            // Whether receivers on this machine are allowed, the service decides.
            url = try WebhookURL(text, allowsPlain: true)
        } catch {
            throw OperationError("the URL is not accepted: \(error)", .invalid("url"))
        }
        guard url.isEncrypted || url.host == "localhost" || NetworkAddress(url.host)?.isLoopback == true else {
            throw OperationError(
                "the URL is not accepted: http:// is for receivers on this machine; use https://", .invalid("url"))
        }
        try filter.check(for: kind)
        self.environment = environment
        self.filter = filter
        self.isOrdered = isOrdered
        self.kind = kind
    }

    /// - Parameter id: of the endpoint.
    package func plan(id: UUID) -> OperationPlan {
        OperationPlan(
            Self.name, on: WebhookSubject.text(id), about: nil,
            kind == .apple
                ? [
                    "Apple's notifications of \(environment.rawValue) that arrive from now on would be sent to \(url) as Apple sends them."
                ]
                : [
                    "Changes of \(environment.rawValue) would be sent to \(url).",
                    "The endpoint would get webhook.test at once, and changes after it answers 2xx.",
                ])
    }

    /// The endpoint and its row of the audit log are written both or neither.
    /// - Parameter id: of the endpoint.
    package func perform(
        on connection: PostgresConnection, id: UUID, by performer: Performer
    ) async throws -> WebhookEndpoint {
        let endpoint = WebhookEndpoint(
            id: id, environment: environment, url: url.description, filter: filter, isOrdered: isOrdered,
            kind: kind, createdAt: performer.now)
        try await WebhookEndpointStore(connection).create(
            endpoint, audit: plan(id: id).action(of: performer))
        return endpoint
    }
}

extension WebhookFilter {
    /// The most apps, events and facts.
    private static let longestList = 100

    /// - Throws: `OperationError` where a list cannot be one, and where notifications should have facts.
    func check(for kind: WebhookEndpoint.Kind) throws(OperationError) {
        for (name, member, list) in [
            ("app", "bundleIds", bundleIds), ("event", "events", events), ("fact", "facts", facts),
        ] {
            guard list.count <= Self.longestList, list.allSatisfy({ 1...255 ~= $0.utf8.count && !$0.utf8.contains(0) })
            else {
                throw OperationError(
                    "give at most \(Self.longestList) values of 1 to 255 bytes as \(name)", .invalid(member))
            }
        }
        guard kind == .changes || facts.isEmpty else {
            throw OperationError(
                "an endpoint of kind apple gets notifications, which have no facts; name events instead",
                .invalid("facts"))
        }
    }
}

/// Endpoints in the audit log.
enum WebhookSubject {
    static func text(_ id: UUID) -> String { "webhook endpoint \(id.uuidString.lowercased())" }
}
