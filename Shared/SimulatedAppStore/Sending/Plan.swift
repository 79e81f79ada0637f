/// What a run does, by its command line.
struct Plan: Sendable {
    /// At least one.
    var apps: [App]
    /// What they sell to customers by command.
    var catalogue = Catalogue()
    /// Whether random customers buy; else only what is ordered by command or through the API is sent.
    var hasRandomPurchases = true
    /// Distinct notifications, forgeries included; 0 is unlimited.
    var count = 0
    /// Concurrent purchases.
    var subscriptions = 100
    var seed: UInt64 = 1
    var conditions = Conditions()
    var mix = ScenarioMix.everything
    /// Share of accepted notifications that are sent again, 0 to 1.
    var repeatedShare = 0.0
    /// Maximum number of notifications that overtake one; 0 keeps the order.
    var reorderWindow = 0
    /// Share of notifications that are forged, 0 to 1.
    var invalidShare = 0.0
    /// Nil where simulated apps upload nothing.
    var uploads: UploadPlan?
    var retries = RetrySchedule(scale: 3600, retriesSandbox: false, retriesBadRequests: true)
    /// Nothing new is made while so many retries wait: each holds about 4 kB.
    var retryLimit = 25_000
    /// Maximum number of concurrent deliveries.
    var concurrency = 64
    /// Deliveries per second; 0 is unlimited.
    var rate = 0.0
    /// Whether everything is signed before the first delivery, so that signing takes no time of the run. Needs a count.
    var isPresigned = false
    /// Number of purchases whose expected access is reported at the end.
    var reportedPurchases = 0
    /// Continues after everything was sent until it is stopped, because requests to the API may order more.
    var isOpenEnded = false
}
