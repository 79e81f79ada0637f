import Signatures

/// What an app receipt of the time before signed transactions names, read without any proof: ids to ask Apple about, whose
/// answer is then proven. Never a reason to grant access.
///
/// Reads what `appStoreReceiptURL` points to and what `verifyReceipt` returned as `latest_receipt`: PKCS#7 signed data that
/// holds a set of attributes.
///
/// <https://developer.apple.com/documentation/appstorereceipts>
public struct UncheckedReceipt: Sendable, Hashable {
    /// The app it says it is of.
    public let bundleId: String?
    /// The environment it says it is of.
    public let environment: AppStoreEnvironment?
    /// One for each purchase, each once, in the receipt's order; at least one. All are of one customer, so that one of them is
    /// enough to ask about the customer.
    public let originalTransactionIds: [String]

    /// - Parameter base64: as apps send it; line breaks within are none of it.
    public init(base64 text: ArraySlice<UInt8>) throws(ReceiptFault) {
        guard let bytes = Base64.decode(text, .standard) else { throw .notBase64 }
        try self.init(bytes[...])
    }

    /// - Parameter bytes: of PKCS#7 signed data.
    public init(_ bytes: ArraySlice<UInt8>) throws(ReceiptFault) {
        let contents = try ReceiptContents(try Self.signedContent(of: bytes))
        guard !contents.originalTransactionIds.isEmpty else { throw .withoutPurchases }
        bundleId = contents.bundleId
        environment = contents.environment.map { AppStoreEnvironment(receiptType: $0) }
        originalTransactionIds = contents.originalTransactionIds
    }

    /// ContentInfo, SignedData, EncapsulatedContentInfo, OCTET STRING. Who signed it is not looked at.
    private static func signedContent(of bytes: ArraySlice<UInt8>) throws(ReceiptFault) -> ArraySlice<UInt8> {
        let info = try BERElement(bytes).members(atLeast: 2, "the outermost value")
        guard info[0].tag == BERElement.Tag.identifier, info[0].content.elementsEqual(signedData) else {
            throw .malformed("it is not PKCS#7 signed data")
        }
        let signed = try only(in: info[1]).members(atLeast: 3, "its signed data")
        let encapsulated = try signed[2].members(atLeast: 2, "its content")
        return try only(in: encapsulated[1]).octets()
    }

    /// 1.2.840.113549.1.7.2
    private static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]

    private static func only(in element: BERElement) throws(ReceiptFault) -> BERElement {
        let elements = try element.elements()
        guard element.tag == BERElement.Tag.explicit, elements.count == 1 else {
            throw .malformed("a value of tag \(element.tag) stands where content should")
        }
        return elements[0]
    }
}
