import Contracts
import Hummingbird

/// W3C trace context, handed on for whoever reads it. Nothing of it is used here.
enum TraceContext {
    static func of(_ request: Request) -> String? {
        guard let name = HTTPFields.Element.Name(Headers.traceparent) else { return nil }
        return request.headers[name].flatMap(checked)
    }

    /// The text if it has the form `00-<32 hex>-<16 hex>-<2 hex>`, else nil: what strangers send is not copied unseen
    /// into headers.
    static func checked(_ text: String) -> String? {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == [2, 32, 16, 2], parts.allSatisfy({ $0.allSatisfy(isLowercaseHex) }) else {
            return nil
        }
        return text
    }

    private static func isLowercaseHex(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}
