/// Where an app was first bought.
///
/// <https://developer.apple.com/documentation/storekit/appstore/platform>
public struct PurchasePlatform: OpenEnumeration {
    /// Apple's spelling.
    public let rawValue: String

    /// Keeps any value.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// iPhone and iPad.
    public static let iOS = PurchasePlatform(rawValue: "iOS")
    /// Mac.
    public static let macOS = PurchasePlatform(rawValue: "macOS")
    /// Apple TV.
    public static let tvOS = PurchasePlatform(rawValue: "tvOS")
    /// Apple Vision.
    public static let visionOS = PurchasePlatform(rawValue: "visionOS")

    /// The documented values.
    public static let known: Set<PurchasePlatform> = [
        .iOS, .macOS, .tvOS, .visionOS,
    ]
}
