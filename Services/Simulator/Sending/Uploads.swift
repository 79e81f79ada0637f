import Contracts

/// Which purchases a simulated app uploads to its own backend, beside Apple's notifications.
struct UploadPlan: Sendable, Equatable {
    /// When an app uploads a transaction, relative to its notification.
    enum Moment: String, Sendable, CaseIterable {
        case before
        /// After the first attempt to send the notification was answered.
        case after
        /// Apple sends no notification at all: the upload is all that the backend gets.
        case instead
    }

    /// Of the purchases made in an app, 0 to 1.
    var share: Double
    /// Nil is any of them.
    var moment: Moment?

    /// - Returns: nil where this payload's transaction is not uploaded.
    func moment(for event: EventPayload, using random: inout SeededRandom) -> Moment? {
        guard event.isPurchaseInTheApp, random.chance(share) else { return nil }
        return moment ?? random.element(of: Moment.allCases)
    }
}

/// The URL to which simulated apps upload what StoreKit signed for them.
struct UploadTarget: Sendable {
    let target: Target
    /// Bearer tokens; where there are some, an environment without one uploads nothing.
    var keys: [StoreEnvironment: String] = [:]

    func takes(_ environment: StoreEnvironment) -> Bool { keys.isEmpty || keys[environment] != nil }

    /// Posts the transaction as an app's backend would.
    func post(_ signedTransaction: [UInt8], of event: EventPayload) async -> Answer {
        var headers = [("user-agent", "simulated app")]
        if let key = keys[event.app.environment] { headers.append(("authorization", "Bearer \(key)")) }
        return await target.post(Self.body(signedTransaction, of: event), headers: headers)
    }

    /// `{"bundleId": …, "signedTransactions": […], "appAccountToken": …}`.
    static func body(_ signedTransaction: [UInt8], of event: EventPayload) -> [UInt8] {
        var account = ""
        if let token = event.customer?.appAccountToken {
            account = #","appAccountToken":"\#(token.uuidString.lowercased())""#
        }
        return Array(#"{"bundleId":"\#(event.app.bundleId)","signedTransactions":[""#.utf8) + signedTransaction
            + Array(#""]\#(account)}"#.utf8)
    }
}

extension EventPayload {
    /// Whether the app gets the transaction at once: StoreKit hands it over where its customer buys.
    fileprivate var isPurchaseInTheApp: Bool {
        guard object == .data, let purchase, customer?.ownership == .purchased else { return false }
        return purchase.reason == .purchase && purchase.revocation == nil && purchase.purchaseDate == signedDate
    }
}
