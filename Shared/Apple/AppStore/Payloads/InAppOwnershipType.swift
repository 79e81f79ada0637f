/// How the customer came to the product.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/inappownershiptype>
public struct InAppOwnershipType: OpenEnumeration {
    /// Apple's spelling.
    public let rawValue: String

    /// Keeps any value.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A family member bought it.
    public static let familyShared = InAppOwnershipType(rawValue: "FAMILY_SHARED")
    /// The customer bought it.
    public static let purchased = InAppOwnershipType(rawValue: "PURCHASED")
    /// A seat was assigned to the customer.
    public static let assigned = InAppOwnershipType(rawValue: "ASSIGNED")

    /// The documented values.
    public static let known: Set<InAppOwnershipType> = [
        .familyShared, .purchased, .assigned,
    ]
}
