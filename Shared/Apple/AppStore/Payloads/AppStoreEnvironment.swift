/// Which App Store it comes from, in Apple's spelling.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/environment>
public struct AppStoreEnvironment: OpenEnumeration {
    /// Apple's spelling.
    public let rawValue: String

    /// Keeps any value.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Test purchases of TestFlight and sandbox accounts.
    public static let sandbox = AppStoreEnvironment(rawValue: "Sandbox")
    /// Real purchases.
    public static let production = AppStoreEnvironment(rawValue: "Production")
    /// StoreKit testing in Xcode: not signed by a trusted root.
    public static let xcode = AppStoreEnvironment(rawValue: "Xcode")
    /// StoreKitTest: likewise.
    public static let localTesting = AppStoreEnvironment(rawValue: "LocalTesting")

    /// The documented values.
    public static let known: Set<AppStoreEnvironment> = [
        .sandbox, .production, .xcode, .localTesting,
    ]
}
