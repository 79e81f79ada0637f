/// The simulator's record of what it sent, which `devkit check` compares with the ledger.
///
/// The file is JSON lines, UTF-8, append-only, each line written before the next step:
///
/// - `{"line":"notification", …}`, a ``Notification``, before its first attempt;
/// - `{"line":"attempt", …}`, an ``Attempt``, after its answer or its failure, so that a killed simulator loses at most
///   the answers that were on their way. A notification without an attempt may have arrived or not;
/// - `{"line":"upload", …}`, an ``Upload``, after its answer or its failure;
/// - `{"line":"refundAnswer", …}`, a ``RefundAnswer``, before it is answered 202.
///
/// Lines of other kinds may be added later: a reader skips a `line` it does not know. A kill may cut off the last line.
public struct RunRecord: Sendable {
    /// A simulated notification, genuine or forged.
    public struct Notification: Sendable, Equatable, Decodable {
        /// Apple's `notificationUUID`, lower case.
        public var uuid: String
        /// Apple's raw type.
        public var notificationType: String
        /// Apple's raw subtype, where the type has one.
        public var subtype: String?
        /// Where the purchase was made.
        public var environment: StoreEnvironment
        /// The app, by its bundle identifier.
        public var bundleId: String
        /// Nil for a TEST notification, as are ``transactionId`` and ``facts``.
        public var originalTransactionId: String?
        /// Apple's id of the newest transaction.
        public var transactionId: String?
        /// Milliseconds since 1970. Strictly rising within one original transaction id.
        public var signedDate: Int64
        /// The verifier's reason to reject it. Nil for a genuine one.
        public var expectedRejection: String?
        /// What it says of its purchase; see ``RunRecord/expectedFacts(where:)``.
        public var facts: Facts?
        /// Apple's raw product type; nil without a transaction.
        public var productType: String?
        /// When its purchase gives access from now on, by the simulator's own book-keeping; nil where it is the same as in the
        /// notification before.
        public var access: [AccessPeriod]?
        /// SHA-256 of the `signedPayload` as it is posted, in base64url: what the ledger must give back. Nil before it is signed.
        public var payloadDigest: String?

        /// - Parameters: see the properties.
        public init(
            uuid: String, notificationType: String, subtype: String?, environment: StoreEnvironment, bundleId: String,
            originalTransactionId: String?, transactionId: String?, signedDate: Int64, expectedRejection: String?,
            facts: Facts?, productType: String? = nil, access: [AccessPeriod]? = nil
        ) {
            self.uuid = uuid
            self.notificationType = notificationType
            self.subtype = subtype
            self.environment = environment
            self.bundleId = bundleId
            self.originalTransactionId = originalTransactionId
            self.transactionId = transactionId
            self.signedDate = signedDate
            self.expectedRejection = expectedRejection
            self.facts = facts
            self.productType = productType
            self.access = access
        }
    }

    /// A period in which a purchase gives access. Dates are milliseconds since 1970.
    public struct AccessPeriod: Sendable, Equatable, Decodable {
        /// The product, by its App Store Connect id.
        public var productId: String
        /// The first moment of access.
        public var startsAt: Int64
        /// The first moment without it; nil is unlimited.
        public var endsAt: Int64?
        /// It is not paid: the charge failed, and Apple gives the customer time.
        public var isGrace: Bool

        /// - Parameter endsAt: nil is unlimited.
        public init(productId: String, startsAt: Int64, endsAt: Int64?, isGrace: Bool) {
            self.productId = productId
            self.startsAt = startsAt
            self.endsAt = endsAt
            self.isGrace = isGrace
        }
    }

    /// What a notification says of its purchase, by Apple's names. Dates are milliseconds since 1970; nil is "absent".
    public struct Facts: Sendable, Equatable, Decodable {
        /// Apple's `status` raw value (1 active … 5 revoked).
        public var status: Int?
        /// The product, by its App Store Connect id.
        public var productId: String
        /// Start of this period.
        public var purchaseDate: Int64
        /// End of this period, where the product has periods.
        public var expiresDate: Int64?
        /// When Apple refunded it or family sharing ended; nil while it stands.
        public var revocationDate: Int64?
        /// Apple's raw value: 0 other, 1 an issue with the app.
        public var revocationReason: Int?
        /// Lower case.
        public var appAccountToken: String?
        /// Whether it will renew.
        public var autoRenewStatus: Int?
        /// The product it will renew as.
        public var autoRenewProductId: String?
        /// Nil where no payment failed: Apple leaves it out then.
        public var isInBillingRetryPeriod: Bool?
        /// Until when access continues although the charge failed.
        public var gracePeriodExpiresDate: Int64?
        /// Apple's raw value: 1 cancelled, 2 billing, 3 price, 4 product gone, 5 other.
        public var expirationIntent: Int?

        /// - Parameters: see the properties; nil is absent.
        public init(
            status: Int?, productId: String, purchaseDate: Int64, expiresDate: Int64?, revocationDate: Int64?,
            revocationReason: Int?, appAccountToken: String?, autoRenewStatus: Int?, autoRenewProductId: String?,
            isInBillingRetryPeriod: Bool?, gracePeriodExpiresDate: Int64?, expirationIntent: Int?
        ) {
            self.status = status
            self.productId = productId
            self.purchaseDate = purchaseDate
            self.expiresDate = expiresDate
            self.revocationDate = revocationDate
            self.revocationReason = revocationReason
            self.appAccountToken = appAccountToken
            self.autoRenewStatus = autoRenewStatus
            self.autoRenewProductId = autoRenewProductId
            self.isInBillingRetryPeriod = isInBillingRetryPeriod
            self.gracePeriodExpiresDate = gracePeriodExpiresDate
            self.expirationIntent = expirationIntent
        }
    }

    /// One attempt to deliver a notification.
    public struct Attempt: Sendable, Equatable, Decodable {
        /// The notification's.
        public var uuid: String
        /// 1 for the first delivery, 2 … 6 for Apple's retries. A deliberate repetition bears the number of the attempt
        /// it repeats.
        public var attempt: Int
        /// When it was sent, milliseconds since 1970.
        public var at: Int64
        /// The HTTP status answered; nil where nothing was, see ``failure``.
        public var status: Int?
        /// Why there was no answer, e.g. `timed out`.
        public var failure: String?
        /// True where the delivery repeats an accepted one.
        public var isRepetition: Bool

        package init(uuid: String, attempt: Int, at: Int64, status: Int?, failure: String?, isRepetition: Bool) {
            self.uuid = uuid
            self.attempt = attempt
            self.at = at
            self.status = status
            self.failure = failure
            self.isRepetition = isRepetition
        }

        /// Apple counts 200 to 206 as success and nothing else.
        public var isAccepted: Bool { status.map { (200...206).contains($0) } ?? false }
    }

    /// One line of the file.
    public enum Line: Sendable, Equatable {
        case notification(Notification)
        case attempt(Attempt)
        case upload(Upload)
        case refundAnswer(RefundAnswer)
    }

    /// Whether the receiver has a notification.
    public enum Arrival: Sendable, Equatable {
        /// Accepted at least once: it must be found, in the ledger or, if forged, among the dead letters.
        case certain
        /// Never accepted, but it may have been written before the answer failed: a time-out, a lost connection, a 5xx.
        case possible
        /// Every attempt was rejected as a bad request.
        case impossible
    }

    /// In the order of creation.
    public private(set) var notifications: [Notification] = []
    /// By uuid, in the order of the answers.
    public private(set) var attempts: [String: [Attempt]] = [:]

    /// In the order of the answers.
    public private(set) var uploads: [Upload] = []

    /// In the order of their arrival.
    public private(set) var refundAnswers: [RefundAnswer] = []

    /// Without notifications; the simulator adds them.
    public init() {}

    /// Reads a whole file; also one that is still being written, without an incomplete last line.
    /// - Throws: `DecodingError` for a complete line that cannot be read; its context names the line's number.
    public init(reading bytes: [UInt8]) throws {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // After the last line feed there is nothing, or an incomplete line.
        for (number, line) in lines.dropLast().enumerated() where !line.isEmpty {
            do {
                if let line = try Line(decoding: Array(line)) { add(line) }
            } catch {
                let text = "line \(number + 1) of the run record cannot be read: use a new --record file"
                throw DecodingError.dataCorrupted(
                    .init(codingPath: [], debugDescription: text, underlyingError: error))
            }
        }
    }

    /// Adds the content of a line.
    public mutating func add(_ line: Line) {
        switch line {
        case .notification(let notification): notifications.append(notification)
        case .attempt(let attempt): attempts[attempt.uuid, default: []].append(attempt)
        case .upload(let upload): uploads.append(upload)
        case .refundAnswer(let answer): refundAnswers.append(answer)
        }
    }

    /// Whether the receiver must, may or cannot have a notification.
    public func arrival(of uuid: String) -> Arrival {
        guard let attempts = attempts[uuid], !attempts.isEmpty else { return .possible }
        if attempts.contains(where: \.isAccepted) { return .certain }
        let rejections = attempts.count { $0.status.map { (400...499).contains($0) } ?? false }
        return rejections == attempts.count ? .impossible : .possible
    }

    /// The genuine notifications about each purchase that are stored, in the order of their signing.
    /// - Parameter isStored: whether the ledger has this uuid (lower case).
    private func histories(where isStored: (String) -> Bool) -> [Purchase: (stored: [Notification], isWhole: Bool)] {
        var histories: [Purchase: (stored: [Notification], isWhole: Bool)] = [:]
        for notification in notifications where notification.expectedRejection == nil {
            guard let id = notification.originalTransactionId else { continue }
            let purchase = Purchase(environment: notification.environment, originalTransactionId: id)
            if isStored(notification.uuid) {
                histories[purchase, default: ([], true)].stored.append(notification)
            } else {
                histories[purchase, default: ([], true)].isWhole = false
            }
        }
        return histories.compactMapValues { history in
            guard !history.stored.isEmpty else { return nil }
            return (history.stored.sorted { $0.signedDate < $1.signedDate }, history.isWhole)
        }
    }

    /// The facts that a receiver must have of each purchase: status and renewal of the newest stored notification, and
    /// the transaction that was charged last as the newest notification about it says it. A refund of an older period is newer than
    /// both and changes only the first.
    /// - Parameter isStored: whether the ledger has this uuid (lower case).
    public func expectedFacts(where isStored: (String) -> Bool) -> [Purchase: Facts] {
        histories(where: isStored).compactMapValues { history in
            guard var facts = history.stored.last(where: { $0.facts != nil })?.facts else { return nil }
            let newest = history.stored.max { left, right in
                guard left.facts != nil, right.facts != nil else { return left.facts == nil }
                // The simulator counts ids up as it charges, whatever date a period has.
                let (leftId, rightId) = (left.transactionId ?? "", right.transactionId ?? "")
                return (leftId.utf8.count, leftId, left.signedDate) < (rightId.utf8.count, rightId, right.signedDate)
            }
            guard let transaction = newest?.facts else { return facts }
            facts.productId = transaction.productId
            facts.purchaseDate = transaction.purchaseDate
            facts.expiresDate = transaction.expiresDate
            facts.revocationDate = transaction.revocationDate
            facts.revocationReason = transaction.revocationReason
            facts.appAccountToken = transaction.appAccountToken
            return facts
        }
    }

    /// When each purchase gives access by the simulator's own book-keeping, where the ledger has every notification
    /// about it; and until when it was followed.
    /// - Parameter isStored: whether the ledger has this uuid (lower case).
    public func expectedAccess(
        where isStored: (String) -> Bool
    ) -> [Purchase: (periods: [AccessPeriod], followedUntil: Int64)] {
        histories(where: isStored).compactMapValues { history in
            guard history.isWhole, let last = history.stored.last,
                let periods = history.stored.last(where: { $0.access != nil })?.access
            else { return nil }
            return (periods, last.signedDate)
        }
    }

    /// What state is kept of: an original transaction id within its environment.
    public struct Purchase: Sendable, Hashable {
        /// Where the purchase was made.
        public var environment: StoreEnvironment
        /// Apple's id of the first transaction, which all of its renewals share.
        public var originalTransactionId: String

        /// Of one purchase.
        public init(environment: StoreEnvironment, originalTransactionId: String) {
            self.environment = environment
            self.originalTransactionId = originalTransactionId
        }
    }
}
