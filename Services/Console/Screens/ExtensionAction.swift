import AppStore
import Contracts
import Operations
import Storage
import Subscriptions

/// More days for a subscriber, by Apple.
struct ExtensionAction: Sendable {
    private static let reasons = RenewalExtension.Reason.allCases.map(\.rawValue).sorted().joined(separator: ", ")

    let console: Console

    /// `POST /purchases/{environment}/{id}/extend`
    func extend(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let key = SubscriptionKey(
            environment: try request.environment(), originalTransactionId: request.parameters["id"] ?? "")
        guard let days = Int64(request.form["days"] ?? ""), (1...90).contains(days) else {
            throw Fault(422, "Nothing was done: the number of days is missing.", "Go back and give 1 to 90.")
        }
        guard let reason = RenewalExtension.Reason(rawValue: request.form["code"] ?? "") else {
            throw Fault(
                422, "Nothing was done: Apple takes no such reason.",
                "Go back and give \(Self.reasons).")
        }
        let name = console.newId().uuidString.lowercased()
        let wanted = RenewalExtension(of: key.originalTransactionId, by: days, for: reason, name: name)
        let audit = try console.action("extend.request", on: wanted.subject, request)
        let found = try await console.database.withConnection { try await SubscriptionStore($0).find(key) }
        guard let subscription = found else { throw Fault.notFound("No such purchase is known.") }
        guard let client = client(of: subscription) else {
            throw Fault(
                409, "Nothing was done: the console has no key of Apple's API for this app.",
                "Use the command line, or set STOREKEEPER_APP_STORE_API_KEYS_FILE.")
        }
        let answer: ExtendRenewalDateResponse?
        do {
            answer = try await wanted.request(from: client) { action in
                try await record(
                    OperatorAction(
                        actedAt: console.clock.now(), actor: audit.actor, action: action, subject: audit.subject,
                        note: audit.note, about: OperatorAction.About(key.environment, subscription.bundleId)))
            }
        } catch let error as APIError {
            throw Fault(
                502, "Apple did not confirm the extension: \(error)",
                "The audit log has the request \(name). Look at the purchase before doing it again: Apple allows two within a year."
            )
        }
        guard answer != nil else {
            throw Fault(502, "Apple did not extend the subscription, and gave no reason.", "Look at its state.")
        }
        return .redirect(
            to: "/purchases/\(key.environment.rawValue)/\(FormFields.encode(key.originalTransactionId))?done=extend")
    }

    /// Nil for what cannot be extended here.
    func form(_ subscription: Subscription, _ request: ConsoleRequest) -> ActionForm? {
        let (key, transaction) = (subscription.key, subscription.transaction)
        guard transaction?.productType == "Auto-Renewable Subscription", client(of: subscription) != nil else {
            return nil
        }
        return ActionForm(
            id: "extend", title: "Extend the subscription",
            explanation:
                "Apple moves the renewal date, at most twice within 365 days. The customer is charged so much later.",
            address: "/purchases/\(key.environment.rawValue)/\(FormFields.encode(key.originalTransactionId))/extend",
            button: "Extend the subscription",
            inputs: [
                ActionForm.Input(
                    id: "extend-days", name: "days", label: "Days", type: "number", value: "7", hint: "1 to 90."),
                ActionForm.Input(
                    id: "extend-code", name: "code", label: "Apple's reason", type: "text", value: "satisfaction",
                    hint: "\(Self.reasons)."),
            ],
            command:
                "storekeeper extend purchase \(shellWord(key.originalTransactionId)) --days 7 --reason satisfaction "
                + "--app \(shellWord(subscription.bundleId)) --environment \(key.environment.rawValue)",
            request)
    }

    private func client(of subscription: Subscription) -> AppStoreServerAPI? {
        console.apple?[subscription.bundleId, AppStoreEnvironment(rawValue: subscription.key.environment.rawValue)]
    }

    private func record(_ action: OperatorAction) async throws {
        try await console.database.withConnection { try await OperatorActionStore($0).record([action]) }
    }
}
