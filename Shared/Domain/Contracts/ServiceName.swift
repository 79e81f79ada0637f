import Records

/// The services that write to or read from our topics.
extension ServiceName {
    /// Receives notifications.
    public static let ingest = storekeeper("ingest")
    /// Verifies them.
    public static let verifier = storekeeper("verifier")
    /// Drops repeats.
    public static let deduplicator = storekeeper("deduplicator")
    /// Applies them to the state.
    public static let stateUpdater = storekeeper("state-updater")
    /// Compares the ledger with Apple's history.
    public static let scheduler = storekeeper("scheduler")
    /// Recovers what is missing.
    public static let recovery = storekeeper("recovery")
    /// Answers app backends.
    public static let api = storekeeper("api")
    /// Answers people.
    public static let console = storekeeper("console")
    /// Sends webhooks.
    public static let webhooks = storekeeper("webhooks")
    /// The command line, as a writer of replays and requests.
    public static let storekeeper = storekeeper("storekeeper")

    /// Each of them.
    public static let all: [ServiceName] = [
        ingest, verifier, deduplicator, stateUpdater, scheduler, recovery, api, console, webhooks, storekeeper,
    ]

    private static func storekeeper(_ name: String) -> ServiceName { ServiceName(name, group: "storekeeper.\(name)") }
}
