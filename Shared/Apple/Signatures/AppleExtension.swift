/// The object identifiers by which Apple marks the certificates of App Store payloads.
public enum AppleExtension {
    /// On the intermediate: Apple Worldwide Developer Relations.
    public static let intermediate = "1.2.840.113635.100.6.2.1"
    /// On the leaf: signs App Store receipts and payloads.
    public static let leaf = "1.2.840.113635.100.6.11.1"
}
