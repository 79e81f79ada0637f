import Contracts

/// The steps that remain once the report passes, with the values of the app. Pure.
struct CutOver {
    var app: String
    var environment: StoreEnvironment
    /// The kind of file.
    var source: String?

    /// Sentences for the operator, a line each.
    var lines: [String] {
        let place = "--app \(app) --environment \(environment.rawValue)"
        let columns = source == "columns" ? " --map member=column,..." : ""
        return [
            "The steps of the cut-over (Documentation/Move.md):",
            "1. Import the newest file: storekeeper import FILE\(columns) \(place) --progress FILE-OF-THE-FIRST-IMPORT",
            "2. Compare it: storekeeper compare FILE\(columns) \(place)",
            "3. Keep the other system current: storekeeper webhooks create --kind apple \(place) --url URL-OF-THE-OTHER-SYSTEM",
            "4. In App Store Connect, make Storekeeper's address the \(environment.rawValue) Server URL of \(app).",
            "5. Request a test notification: storekeeper test-notification \(place)",
            "6. Watch storekeeper status and storekeeper webhooks list.",
            "7. After an hour, take \(app) out of STOREKEEPER_FOLLOWED_APPS.",
            "8. Let your backend ask Storekeeper's API, for some customers first.",
            "To go back: let your backend ask the other system, put \(app) into STOREKEEPER_FOLLOWED_APPS again, and set the "
                + "Server URL to the one of before.",
        ]
    }
}
