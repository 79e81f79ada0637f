extension RunRecord {
    /// What the simulated App Store was told about a refund request, and took.
    public struct RefundAnswer: Sendable, Equatable, Decodable {
        /// Where the purchase was made.
        public var environment: StoreEnvironment
        /// The app, by its bundle identifier.
        public var bundleId: String
        /// Apple's id of the transaction.
        public var transactionId: String
        /// When it arrived, milliseconds since 1970, by the simulated present.
        public var at: Int64
        /// Of Apple's endpoint, 1 or 2.
        public var version: Int
        /// The request's body, JSON.
        public var body: String

        /// - Parameter at: milliseconds since 1970.
        public init(
            environment: StoreEnvironment, bundleId: String, transactionId: String, at: Int64, version: Int,
            body: String
        ) {
            self.environment = environment
            self.bundleId = bundleId
            self.transactionId = transactionId
            self.at = at
            self.version = version
            self.body = body
        }
    }
}
