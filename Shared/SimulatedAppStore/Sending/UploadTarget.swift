import Contracts

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
