import AppStore
import Contracts
import Operations
import ServerAPI
import Storage
import Subscriptions

/// More days for a subscriber, by Apple.
struct ExtensionAction: Sendable {
    private static let reasons = ExtendRenewal.Reason.allCases.map(\.rawValue).sorted().joined(separator: ", ")

    let console: Console

    /// `POST /purchases/{environment}/{id}/extend`
    func extend(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let key = SubscriptionKey(
            environment: try request.environment(), originalTransactionId: request.parameters["id"] ?? "")
        guard let reason = ExtendRenewal.Reason(rawValue: request.form["code"] ?? "") else {
            throw Fault(
                422, "Nothing was done: Apple takes no such reason.",
                "Give \(Self.reasons).", field: "code")
        }
        let days = Int64(request.form["days"] ?? "") ?? 0
        try ExtendRenewal.check(days)
        let performer = try console.performer(request)
        let found = try await console.database.withConnection { try await SubscriptionStore($0).find(key) }
        guard let subscription = found else { throw Fault.notFound("No such purchase is known.") }
        let name = console.id(of: request).uuidString.lowercased()
        let operation = try ExtendRenewal(
            key.originalTransactionId, of: subscription.bundleId, in: key.environment, by: days, for: reason,
            requestIdentifier: name)
        if request.isDryRun { return console.page(of: operation.plan, request) }
        guard let client = client(of: subscription) else {
            throw Fault(
                409, "Nothing was done: the console has no key of Apple's API for this app.",
                "Use the command line, or set STOREKEEPER_APP_STORE_API_KEYS_FILE.")
        }
        do {
            _ = try await operation.perform(at: client, by: performer) { action in
                try await console.database.withConnection { connection in
                    let actions = OperatorActionStore(connection)
                    guard action.outcome == .requested else { return try await actions.record([action]) }
                    guard try await actions.begin(action) else {
                        throw Fault(
                            409, "Nothing was done: this form was sent before, and Apple was asked.",
                            "Look at the purchase before doing it again: Apple allows two extensions within a year.",
                            isRepetition: true)
                    }
                }
            } unrecorded: { error in
                console.logger.error(
                    "Apple answered an extension, but the audit log could not be written",
                    metadata: ["request": "\(name)", "error": "\(error)"])
            }
        } catch let error as APIError {
            throw Fault(
                502, "Apple did not confirm the extension: \(error)",
                "The audit log has the request \(name). Look at the purchase before doing it again: Apple allows two within a year."
            )
        }
        return .redirect(
            to: "/purchases/\(key.environment.rawValue)/\(FormFields.encode(key.originalTransactionId))?done=extend")
    }

    /// The form of an extension; nil for what cannot be extended here.
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
            button: "Extend the subscription", hidden: [console.idField(request)],
            inputs: [
                ActionForm.Input(
                    id: "extend-days", name: "days", label: "Days", type: "number", value: "7",
                    hint: "\(ExtendRenewal.days.lowerBound) to \(ExtendRenewal.days.upperBound)."),
                ActionForm.Input(
                    id: "extend-code", name: "code", label: "Apple's reason", type: "text", value: "satisfaction",
                    hint: "\(Self.reasons)."),
            ],
            command:
                "storekeeper extend purchase \(shellWord(key.originalTransactionId)) --days 7 --reason satisfaction "
                + "--app \(shellWord(subscription.bundleId)) --environment \(key.environment.rawValue) --note REASON",
            offersPlan: true, request)
    }

    private func client(of subscription: Subscription) -> AppStoreServerAPI? {
        console.apple?[subscription.bundleId, AppStoreEnvironment(rawValue: subscription.key.environment.rawValue)]
    }
}
