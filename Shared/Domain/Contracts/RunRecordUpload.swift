extension RunRecord {
    /// A signed transaction that a simulated app posted to its own backend.
    public struct Upload: Sendable, Equatable, Decodable {
        /// Of the notification about the same purchase, which is in the record unless the upload came instead of it.
        public var uuid: String
        /// `before`, `after` or `instead`.
        public var moment: String
        /// Apple's id of the transaction.
        public var transactionId: String
        /// When it was sent, milliseconds since 1970.
        public var at: Int64
        /// The HTTP status answered; nil where nothing was, see ``failure``.
        public var status: Int?
        /// Why there was no answer, e.g. `timed out`.
        public var failure: String?

        /// - Parameter at: milliseconds since 1970.
        public init(uuid: String, moment: String, transactionId: String, at: Int64, status: Int?, failure: String?) {
            self.uuid = uuid
            self.moment = moment
            self.transactionId = transactionId
            self.at = at
            self.status = status
            self.failure = failure
        }
    }
}
