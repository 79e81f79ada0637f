/// Why nothing can be read from what was said to be a receipt.
public enum ReceiptFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// It is not base64.
    case notBase64
    /// It ends too early.
    case cut
    /// It is no receipt; the text says where that shows.
    case malformed(String)
    /// It is a receipt in which nothing was bought.
    case withoutPurchases

    /// As the end of a sentence that begins with “the receipt cannot be used: ”.
    public var description: String {
        switch self {
        case .notBase64: "it is not base64"
        case .cut: "it ends too early; was it cut off where it was stored?"
        case .malformed(let place): "it is no receipt: \(place)"
        case .withoutPurchases: "it holds no purchase"
        }
    }
}
