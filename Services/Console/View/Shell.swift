import Chassis

import struct Foundation.Date

/// What stands around every page.
struct Shell: Sendable {
    struct Link: Sendable {
        let label: String
        let address: String
        let key: String
        let isCurrent: Bool
    }

    let title: String
    let links: [Link]
    let isSignedIn: Bool
    let name: String
    let role: String
    let token: String
    /// Signed in by a session that can be ended here.
    let hasSession: Bool
    /// What the last form did.
    let done: String?
    /// The reason for which the last form was rejected.
    let rejected: String?
    let query: String
    let now: Moment
    let version = BuildInformation.version
    let style = Asset.style.address
    let script = Asset.script.address
    let icon = Asset.icon.address

    private static let screens = [
        ("Overview", "/", "o"), ("Notifications", "/notifications", "n"), ("Dead letters", "/dead-letters", "d"),
        ("Coverage", "/coverage", "c"), ("Pipeline", "/pipeline", "p"), ("Webhooks", "/webhooks", "w"),
        ("Refund requests", "/refunds", "r"), ("Offers", "/offers", "f"), ("Revenue", "/revenue", "m"),
        ("Insight", "/insight", "i"), ("Compare", "/compare", "x"), ("Audit", "/audit", "a"),
    ]

    init(title: String, request: ConsoleRequest? = nil, done: String? = nil, now: Date) {
        let identity = request?.identity
        self.title = title
        links =
            identity == nil
            ? []
            : Self.screens.map { label, address, key in
                let path = request?.path ?? ""
                return Link(
                    label: label, address: address, key: key,
                    isCurrent: path == address || (address != "/" && path.hasPrefix(address + "/")))
            }
        isSignedIn = identity != nil
        name = identity?.name ?? ""
        role = identity?.role.rawValue ?? ""
        token = request?.token ?? ""
        hasSession = identity?.session != nil
        self.done = done
        rejected = request?.rejection?.sentence
        query = request?.path == "/search" ? request?.query["q"] ?? "" : ""
        self.now = Moment(now, now: now)
    }

    /// What a form did, by the word in the address it leads to. Fixed sentences: an address can say nothing else.
    static func sentence(_ word: String) -> String? {
        switch word {
        case "grant": "Access granted. It is in effect now."
        case "revoke": "The grant is revoked. Access by it ended now."
        case "choose": "The account is chosen and entitled now."
        case "refresh":
            "Apple will be asked for this customer's history. What is new appears here within a minute or so."
        case "extend": "Apple has extended the subscription. Its notification appears here within a minute or so."
        case "recover": "The window is open. The scheduler fetches it; this page shows how far it is."
        case "answer": "The answer is stored. The scheduler tells Apple within seconds."
        case "webhook-test": "The service sends webhook.test within seconds."
        case "webhook-pause": "The endpoint is paused. Requests that are under way end within 15 seconds."
        case "webhook-resume": "The service tests the receiver and then sends."
        case "webhook-rotate":
            "A new secret signs from now on, and the one before for a day: storekeeper webhooks secret prints the new one."
        case "webhook-replay": "The changes are enqueued and sent again under their ids."
        case "end": "The sessions are ended."
        case "dismiss": "The dead letters are dismissed."
        default: nil
        }
    }
}
