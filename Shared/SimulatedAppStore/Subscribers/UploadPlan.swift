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

extension EventPayload {
    /// Whether the app gets the transaction at once: StoreKit hands it over where its customer buys.
    fileprivate var isPurchaseInTheApp: Bool {
        guard object == .data, let purchase, customer?.ownership == .purchased else { return false }
        return purchase.reason == .purchase && purchase.revocation == nil && purchase.purchaseDate == signedDate
    }
}
