/// Where a purchase was made. Part of every stored key: sandbox and production rows never meet.
///
/// Raw values are Apple's spelling of `environment`.
public enum StoreEnvironment: String, Sendable, Hashable, CaseIterable, Codable {
    case production = "Production"
    case sandbox = "Sandbox"
    /// A StoreKit test session in Xcode. Accepted in development mode only.
    case xcode = "Xcode"
    /// StoreKitTest. Accepted in development mode only.
    case localTesting = "LocalTesting"
}
