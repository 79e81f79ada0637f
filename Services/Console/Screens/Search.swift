import Contracts
import Postgres
import ServerAPI
import Storage
import Subscriptions

import struct Foundation.UUID

/// `GET /search?q=`: any id in one box.
struct SearchScreen: Sendable {
    struct Hit: Sendable {
        let kind: String
        let app: String
        let environment: String
        let id: String
        let address: String?
    }

    struct Page: Sendable {
        let asked: String
        let hits: [Hit]
        let isEmpty: Bool
        let isSeveral: Bool
        let isNothingAsked: Bool
        let note: String?
        let command: String?
    }

    private static let limit = 50
    /// A person waits for the page, however many apps Apple is asked about; as long as a client of the API does.
    private static let patience = Duration.seconds(10)

    let console: Console

    func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let id = (request.query["q"] ?? "").filter { !$0.isWhitespace }
        guard id.utf8.count <= 200 else {
            throw Fault(400, "No id is that long.", "Search for an id of Apple, an account or a notification.")
        }
        var hits: [Hit] = []
        var note: String?
        var command: String?
        if !id.isEmpty {
            hits = try await stored(id, request)
            if hits.isEmpty, Self.isOrder(id) { (hits, note, command) = try await ordered(id, request) }
        }
        // One purchase or account is what was looked for.
        let addresses = Set(hits.compactMap(\.address))
        if addresses.count == 1, let address = addresses.first { return .redirect(to: address) }
        return console.page(
            "search", "Search",
            Page(
                asked: id, hits: hits, isEmpty: hits.isEmpty && !id.isEmpty, isSeveral: addresses.count > 1,
                isNothingAsked: id.isEmpty, note: note, command: command),
            request)
    }

    private func stored(_ id: String, _ request: ConsoleRequest) async throws -> [Hit] {
        let masking = request.masking
        return try await console.database.withConnection { connection in
            var hits: [Hit] = []
            for environment in StoreEnvironment.allCases {
                for hit in try await SearchStore(connection).hits(
                    id, in: environment, bundleIds: nil, limit: Self.limit)
                {
                    var address: String?
                    if hit.kind == "notificationUUID", hit.originalTransactionId == nil || masking.isOn {
                        address = "/notifications/\(id.lowercased())"
                    } else if let purchase = hit.originalTransactionId, hit.kind != "appAccountToken" {
                        address = try await self.address(of: purchase, in: environment, masking, connection)
                    } else {
                        address = masking.account(hit.appAccountToken, in: environment)
                    }
                    hits.append(
                        Hit(
                            kind: Self.words(hit.kind), app: hit.bundleId, environment: environment.rawValue,
                            id: masking.id(
                                hit.originalTransactionId ?? hit.appAccountToken?.uuidString.lowercased() ?? id),
                            address: address))
                }
            }
            if hits.isEmpty, let uuid = UUID(uuidString: id) {
                let deadLetters = try await DeadLetterGroups(connection).deadLetters(about: uuid, limit: 10)
                hits = deadLetters.map { deadLetter in
                    Hit(
                        kind: "dead letter", app: deadLetter.criteria.bundleId ?? "unknown app",
                        environment: deadLetter.criteria.environment ?? "unknown environment", id: deadLetter.id,
                        address: "/dead-letters/list" + DeadLetterScreens.query(deadLetter.criteria))
                }
            }
            return hits
        }
    }

    private func address(
        of purchase: String, in environment: StoreEnvironment, _ masking: Masking, _ connection: PostgresConnection
    ) async throws -> String? {
        var told: UUID?
        if masking.isOn {
            told = try await SubscriptionStore(connection).find(
                SubscriptionKey(environment: environment, originalTransactionId: purchase))?.version.notificationUUID
        }
        return masking.purchase(SubscriptionKeyText(environment: environment.rawValue, id: purchase), told: told)
    }

    /// The order number of a customer's receipt from Apple: Apple knows its transactions, the ledger does not.
    private func ordered(_ order: String, _ request: ConsoleRequest) async throws -> ([Hit], String?, String?) {
        let command = "storekeeper lookup order \(shellWord(order)) --app BUNDLE-ID"
        let clients = (console.apple?.all ?? []).filter { $0.environment == .production }
        guard !clients.isEmpty else {
            return ([], "It may be an order number. Apple knows those; this console has no keys to ask.", command)
        }
        guard request.role >= .support else {
            return (
                [],
                "It may be an order number. To have Apple asked about it needs the role support; yours is "
                    + "\(request.role.rawValue).", command
            )
        }
        // A page of another site may lead a browser here over and over.
        guard !request.isFromElsewhere else {
            return (
                [],
                "It may be an order number. Apple was not asked, because a page of another site led here: search for it "
                    + "once more, from this page.", command
            )
        }
        let decision = console.questions.take(
            request.name, in: .production, clients.count, for: .orderLookup, at: console.clock.instant())
        guard decision.isAllowed else {
            throw Fault(
                429, "Apple was not asked about the order: you have asked Apple as much as one person may.",
                "Wait \(decision.seconds) s, and search again.")
        }
        let end = console.clock.instant() + Self.patience
        var (hits, failure): ([Hit], String?) = ([], nil)
        for var client in clients {
            client.deadline = console.clock.instant().duration(to: end)
            guard client.deadline > .zero else {
                failure = failure ?? "Apple did not answer within \(Self.patience); search again later."
                break
            }
            let answer: OrderLookup
            do {
                answer = try await client.lookUpOrder(order)
            } catch let error where !(error is CancellationError) {
                // The order may be of another app.
                failure = failure ?? "Apple could not be asked about the order for \(client.app.bundleId): \(error)"
                continue
            }
            for transaction in answer.transactions.compactMap(\.value) {
                guard let id = transaction.originalTransactionId ?? transaction.transactionId else { continue }
                for hit in try await stored(id, request) where !hits.contains(where: { $0.address == hit.address }) {
                    hits.append(
                        Hit(
                            kind: "order \(order)", app: hit.app, environment: hit.environment, id: hit.id,
                            address: hit.address))
                }
            }
        }
        return (
            hits,
            hits.isEmpty
                ? failure ?? "Apple knows no such order of these apps, or the ledger lacks its purchases." : nil,
            command
        )
    }

    /// Ten capital letters and digits, as receipts have them.
    static func isOrder(_ text: String) -> Bool {
        (8...12).contains(text.utf8.count) && text.utf8.first.map { (65...90).contains($0) } ?? false
            && text.utf8.allSatisfy { (65...90).contains($0) || (48...57).contains($0) }
    }

    private static func words(_ kind: String) -> String {
        switch kind {
        case "originalTransactionId": "purchase"
        case "transactionId": "transaction of a purchase"
        case "appTransactionId": "purchase of a customer"
        case "notificationUUID": "notification"
        case "appAccountToken": "account"
        case "customerId": "customer"
        default: kind
        }
    }
}
