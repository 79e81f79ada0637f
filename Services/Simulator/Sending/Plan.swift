/// What a run is to do, once the command line has been understood.
struct Plan: Sendable {
    /// At least one.
    var apps: [App]
    /// Distinct notifications, forgeries included; 0 is endless.
    var count = 0
    /// Lives at once.
    var subscriptions = 100
    var seed: UInt64 = 1
    var conditions = Conditions()
    var mix = ScenarioMix.everything
    /// Share of accepted notifications that are sent once more, 0 to 1.
    var repeatedShare = 0.0
    /// How many notifications one may be overtaken by before it is taken; 0 keeps the order of taking.
    var reorderWindow = 0
    /// Share of notifications that are forged, 0 to 1.
    var invalidShare = 0.0
    /// Nil where simulated apps upload nothing.
    var uploads: UploadPlan?
    var retries = RetrySchedule(scale: 3600, retriesSandbox: false, retriesBadRequests: true)
    /// Nothing new is made while so many wait to be retried: each holds about 4 kB.
    var retryLimit = 25_000
    /// Deliveries underway at once.
    var concurrency = 64
    /// Deliveries begun per second; 0 is as fast as possible.
    var rate = 0.0
    /// Purchases whose expected access is told at the end; 0 for none.
    var toldPurchases = 0
    /// Goes on when everything was sent, until it is stopped: who asks Apple's API may ask for more.
    var isOpenEnded = false
}
