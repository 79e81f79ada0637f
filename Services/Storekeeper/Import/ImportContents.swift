import Commands
import Operations

/// What an import file has, before anything is done with it. Pure.
struct ImportContents: Encodable, Sendable, Equatable {
    /// The kind of file, in words.
    var format: String
    var records: Int
    var customers: Int
    /// Purchases that the records name, each once.
    var purchases: Int
    /// The purchases among them that records of several customers name.
    var purchasesOfSeveralCustomers: Int
    /// Access by hand that has not ended.
    var grants: Int
    /// Records that are left out, by reason.
    var skipped: [String: Int]
    /// Lines that cannot be used.
    var invalid: Int
    /// Customers with a number or an e-mail address as id: who knows one can name others.
    var guessableIds: Int
    /// Customers of whom only the other system has an id.
    var anonymousIds: Int
    /// Seconds until Apple has answered about each purchase once, at its limit of requests.
    var secondsAtAppleLimit: Int
    /// The share of that limit which the command takes.
    var limitShare: Double
    /// Seconds until Apple has answered about each purchase once, at that share.
    var secondsAtShare: Int

    /// Apple's limit for one app in production, requests a second:
    /// https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits
    private static let appleLimit = 50

    /// - Parameter share: of Apple's limit, which the command takes.
    init(_ list: ImportList, share: Double) {
        format = list.shape.name
        records = list.records
        let ids = Dictionary(list.rows.map { ($0.customerId.exact, $0.customerId) }) { first, _ in first }.values
        customers = ids.count
        var named: [String: [UInt8]] = [:]
        var shared: Set<String> = []
        for row in list.rows {
            for id in row.originalTransactionIds {
                let customer = row.customerId.exact
                if let other = named.updateValue(customer, forKey: id), other != customer {
                    shared.insert(id)
                }
            }
        }
        purchases = named.count
        purchasesOfSeveralCustomers = shared.count
        grants = list.rows.reduce(0) { $0 + $1.grants.count }
        skipped = Dictionary(uniqueKeysWithValues: list.skipped.map { ($0.key.rawValue, $0.value) })
        invalid = list.faults.count
        guessableIds = ids.count { Self.isGuessable($0) }
        anonymousIds =
            Set(
                list.rows.filter { $0.isAnonymous || ImportReader.isAnonymous($0.customerId) }.map(\.customerId.exact)
            ).count
        secondsAtAppleLimit = (purchases + Self.appleLimit - 1) / Self.appleLimit
        limitShare = share
        secondsAtShare = Int((Double(purchases) / (Double(Self.appleLimit) * share)).rounded(.up))
    }

    /// A number as databases count them, or an e-mail address.
    private static func isGuessable(_ id: String) -> Bool {
        (id.utf8.count <= 12 && id.utf8.allSatisfy { (0x30...0x39).contains($0) })
            || id.wholeMatch(of: #/[^@\s]+@[^@\s]+\.[^@\s]+/#) != nil
    }

    /// Sentences for the operator, a line each.
    var lines: [String] {
        var lines = [
            "\(format): \(records.counted("record")), \(customers.counted("customer")), \(purchases.counted("purchase")); at "
                + "Apple's limit of \(Self.appleLimit) requests a second at least \(TimeSpan.text(seconds: secondsAtAppleLimit))."
        ]
        if limitShare < 1 {
            lines.append(
                "This command takes \(limitShare) of the limit (STOREKEEPER_APP_STORE_API_LIMIT_SHARE): at least "
                    + "\(TimeSpan.text(seconds: secondsAtShare)).")
        }
        let left = skipped.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        if !left.isEmpty { lines.append("Records left out: \(left.joined(separator: ", ")).") }
        if invalid > 0 { lines.append("Lines that cannot be used: \(invalid).") }
        if grants > 0 { lines.append("Access given by hand: \(grants.counted("grant")).") }
        if purchasesOfSeveralCustomers > 0 {
            lines.append(
                "Named for several customers: \(purchasesOfSeveralCustomers.counted("purchase")); the first in the file claims it, "
                    + "unless Apple names an account.")
        }
        if guessableIds > 0 {
            lines.append(
                "Numbers or e-mail addresses as ids: \(guessableIds.counted("customer")); no app may choose the id that its "
                    + "requests are about.")
        }
        if anonymousIds > 0 {
            lines.append("Known only by an id of the other system: \(anonymousIds.counted("customer")).")
        }
        return lines
    }
}
