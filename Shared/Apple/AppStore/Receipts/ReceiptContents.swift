import struct Foundation.Date

/// What the signed content of an app receipt says. Proves nothing.
///
/// <https://developer.apple.com/documentation/appstorereceipts>
struct ReceiptContents: Sendable, Hashable {
    /// Bundle identifier of the app.
    private(set) var bundleId: String?
    /// Apple's word, such as `Production` or `ProductionSandbox`.
    private(set) var environment: String?
    /// When Apple made the receipt.
    private(set) var createdAt: Date?
    /// The version that the customer first got.
    private(set) var originalApplicationVersion: String?
    /// One for each purchase, each once, in the receipt's order.
    private(set) var originalTransactionIds: [String] = []

    /// Apple's numbers of attributes.
    private enum Attribute {
        static let environment = 0
        static let bundleId = 2
        static let createdAt = 12
        static let purchase = 17
        static let originalApplicationVersion = 19
        static let transactionId = 1703
        static let originalTransactionId = 1705
    }

    /// - Parameter bytes: a set of attributes.
    init(_ bytes: ArraySlice<UInt8>) throws(ReceiptFault) {
        var known: Set<String> = []
        for (type, value) in try Self.attributes(in: bytes) {
            switch type {
            case Attribute.environment: environment = try Self.text(value)
            case Attribute.bundleId: bundleId = try Self.text(value)
            case Attribute.createdAt:
                createdAt = try Self.text(value).flatMap { try? Date($0, strategy: .iso8601) }
            case Attribute.originalApplicationVersion: originalApplicationVersion = try Self.text(value)
            case Attribute.purchase:
                guard let id = try Self.purchase(value), known.insert(id).inserted else { continue }
                originalTransactionIds.append(id)
            default: break
            }
        }
    }

    /// A purchase without an original id is its own.
    private static func purchase(_ bytes: ArraySlice<UInt8>) throws(ReceiptFault) -> String? {
        let attributes = try attributes(in: bytes)
        let named =
            attributes.first { $0.type == Attribute.originalTransactionId }
            ?? attributes.first { $0.type == Attribute.transactionId }
        guard let named, let id = try text(named.value) else { return nil }
        guard id.isTransactionId else { throw .malformed("a transaction id is none") }
        return id
    }

    /// A set of triples of type, version and value.
    private static func attributes(
        in bytes: ArraySlice<UInt8>
    ) throws(ReceiptFault) -> [(type: Int, value: ArraySlice<UInt8>)] {
        let set = try BERElement(bytes)
        guard set.tag == BERElement.Tag.set else { throw .malformed("its attributes are no set") }
        var attributes: [(type: Int, value: ArraySlice<UInt8>)] = []
        for element in try set.elements() {
            let triple = try element.members(atLeast: 3, "an attribute")
            // One whose number is too large for us is none that we look for.
            guard let type = triple[0].number else { continue }
            attributes.append((type, try triple[2].octets()))
        }
        return attributes
    }

    /// The text of an attribute; nil where it is empty.
    private static func text(_ bytes: ArraySlice<UInt8>) throws(ReceiptFault) -> String? {
        let element = try BERElement(bytes)
        guard [BERElement.Tag.text, BERElement.Tag.asciiText].contains(element.tag),
            let text = String(validating: element.content, as: UTF8.self)
        else { throw .malformed("a text is none") }
        return text.isEmpty ? nil : text
    }
}

extension BERElement {
    /// The members of a sequence.
    func members(atLeast count: Int, _ place: String) throws(ReceiptFault) -> [BERElement] {
        guard tag == Tag.sequence else { throw .malformed("\(place) is no sequence") }
        let members = try elements()
        guard members.count >= count else { throw .malformed("\(place) has \(members.count) members") }
        return members
    }
}

extension String {
    /// Whether it can be asked of Apple: digits only, and not more than an id has.
    package var isTransactionId: Bool {
        (1...30).contains(utf8.count) && utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
