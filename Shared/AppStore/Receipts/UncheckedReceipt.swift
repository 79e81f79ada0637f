/// What an app receipt of the time before signed transactions names, read without any proof: ids to ask Apple about, whose
/// answer is then proven. Never a reason to grant access.
///
/// Reads what `appStoreReceiptURL` points to and what `verifyReceipt` returned as `latest_receipt`: PKCS#7 signed data that
/// holds a set of attributes.
public struct UncheckedReceipt: Sendable, Hashable {
    /// The app it says it is of.
    public let bundleId: String?
    /// One for each purchase, each once, in the receipt's order; at least one. All are of one customer, so that one of them is
    /// enough to ask about the customer.
    public let originalTransactionIds: [String]

    /// Apple's numbers of attributes.
    private enum Attribute {
        static let bundleId = 2
        static let purchase = 17
        static let transactionId = 1703
        static let originalTransactionId = 1705
    }

    /// - Parameter base64: as apps send it; line breaks within are none of it.
    public init(base64 text: ArraySlice<UInt8>) throws(ReceiptFault) {
        guard let bytes = Base64.decode(text, .standard) else { throw .notBase64 }
        try self.init(bytes[...])
    }

    /// - Parameter bytes: of PKCS#7 signed data.
    public init(_ bytes: ArraySlice<UInt8>) throws(ReceiptFault) {
        var bundleId: String?
        var ids: [String] = []
        for (type, value) in try Self.attributes(in: try Self.signedContent(of: bytes)) {
            switch type {
            case Attribute.bundleId: bundleId = try Self.text(value)
            case Attribute.purchase:
                let purchase = try Self.attributes(in: value)
                let named =
                    purchase.first { $0.type == Attribute.originalTransactionId }
                    ?? purchase.first { $0.type == Attribute.transactionId }
                guard let named, let id = try Self.text(named.value) else { continue }
                guard (1...30).contains(id.utf8.count), id.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                    throw ReceiptFault.malformed("a transaction id is none")
                }
                if !ids.contains(id) { ids.append(id) }
            default: break
            }
        }
        guard !ids.isEmpty else { throw .withoutPurchases }
        self.bundleId = bundleId
        originalTransactionIds = ids
    }

    /// ContentInfo, SignedData, EncapsulatedContentInfo, OCTET STRING. Who signed it is not looked at.
    private static func signedContent(of bytes: ArraySlice<UInt8>) throws(ReceiptFault) -> ArraySlice<UInt8> {
        let info = try members(of: try BERElement(bytes), atLeast: 2, "the outermost value")
        guard info[0].tag == BERElement.Tag.identifier, info[0].content.elementsEqual(signedData) else {
            throw .malformed("it is not PKCS#7 signed data")
        }
        let signed = try members(of: try only(in: info[1]), atLeast: 3, "its signed data")
        let encapsulated = try members(of: signed[2], atLeast: 2, "its content")
        return try only(in: encapsulated[1]).octets()
    }

    /// 1.2.840.113549.1.7.2
    private static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]

    private static func members(
        of element: BERElement, atLeast count: Int, _ place: String
    ) throws(ReceiptFault) -> [BERElement] {
        guard element.tag == BERElement.Tag.sequence else { throw .malformed("\(place) is no sequence") }
        let members = try element.elements()
        guard members.count >= count else { throw .malformed("\(place) has \(members.count) members") }
        return members
    }

    private static func only(in element: BERElement) throws(ReceiptFault) -> BERElement {
        let elements = try element.elements()
        guard element.tag == BERElement.Tag.explicit, elements.count == 1 else {
            throw .malformed("a value of tag \(element.tag) stands where content should")
        }
        return elements[0]
    }

    /// A set of triples of type, version and value.
    private static func attributes(
        in bytes: ArraySlice<UInt8>
    ) throws(ReceiptFault) -> [(type: Int, value: ArraySlice<UInt8>)] {
        let set = try BERElement(bytes)
        guard set.tag == BERElement.Tag.set else { throw .malformed("its attributes are no set") }
        var attributes: [(type: Int, value: ArraySlice<UInt8>)] = []
        for element in try set.elements() {
            let triple = try members(of: element, atLeast: 3, "an attribute")
            // One whose number is too large for us is none that we look for.
            guard let type = triple[0].number else { continue }
            attributes.append((type, try triple[2].octets()))
        }
        return attributes
    }

    /// Nil where it is empty.
    private static func text(_ bytes: ArraySlice<UInt8>) throws(ReceiptFault) -> String? {
        let element = try BERElement(bytes)
        guard element.tag == BERElement.Tag.text, let text = String(validating: element.content, as: UTF8.self) else {
            throw .malformed("a text is none")
        }
        return text.isEmpty ? nil : text
    }
}
