import StrictJSON

/// A change of one fact of a purchase.
public struct FactChange: Sendable, Hashable {
    /// Which fact, by Apple's name for it; the project's own are ``accessUntil``, ``refundRequest``, ``sharedAccount``, ``account`` and
    /// those that begin with `earlier`.
    public var fact: String
    /// The value before; nil where the fact was unknown.
    public var from: String?
    /// The value after; nil where the fact is gone.
    public var to: String?
    /// The transaction of the fact, where that is not the purchase's current one; always of a ``refundRequest``.
    public var transactionId: String?

    /// A fact with the value before and after.
    public init(fact: String, from: String?, to: String?, transactionId: String? = nil) {
        self.fact = fact
        self.from = from
        self.to = to
        self.transactionId = transactionId
    }

    /// The fact that an account of the app (`to`) was found on the Apple account of another one (`from`).
    public static let sharedAccount = "sharedAccount"

    /// The fact that a restore moved the purchase from an account of the app to another.
    public static let account = "account"

    /// The fact that access ends at another moment, which ``SubscriptionChanged/State/accessUntil`` explains: `none`
    /// without access, `open` where it does not end.
    public static let accessUntil = "accessUntil"

    /// The fact that a refund of a transaction is `requested`, `refunded`, `declined` or `reversed`.
    public static let refundRequest = "refundRequest"
}

extension FactChange {
    /// An array of changes as JSON; what is nil is left out.
    public static func json(_ changes: [FactChange]) -> [UInt8] {
        var json = JSONWriter()
        json.beginArray()
        for change in changes {
            json.beginObject()
            json.member("fact", change.fact)
            if let from = change.from { json.member("from", from) }
            if let to = change.to { json.member("to", to) }
            if let id = change.transactionId { json.member("transactionId", id) }
            json.endObject()
        }
        json.endArray()
        return json.bytes
    }

    /// Reads what ``json(_:)`` wrote; nil where it is something else.
    public static func changes(json: [UInt8]) -> [FactChange]? {
        guard let root = try? JSONDocument(json).root, root.kind == .array else { return nil }
        return changes(root)
    }

    static func changes(_ array: JSONValue) -> [FactChange]? {
        var changes: [FactChange] = []
        for element in array.elements {
            guard let fact = element["fact"]?.string else { return nil }
            changes.append(
                FactChange(
                    fact: fact, from: element["from"]?.string, to: element["to"]?.string,
                    transactionId: element["transactionId"]?.string))
        }
        return changes
    }
}
