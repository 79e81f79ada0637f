/// The place of a span in a trace: W3C Trace Context, the header `traceparent`.
public struct TraceContext: Sendable, Hashable {
    /// The trace, 128 bits that are not all zero.
    public var trace: (high: UInt64, low: UInt64) { (high, low) }
    /// The parent span, not zero.
    public let span: UInt64
    /// Whether the trace is recorded.
    public let isSampled: Bool
    private let high: UInt64
    private let low: UInt64

    /// Neither id may be zero.
    public init(trace: (high: UInt64, low: UInt64), span: UInt64, isSampled: Bool) {
        (high, low) = trace
        self.span = span
        self.isSampled = isSampled
    }

    /// Reads `00-<32 hex>-<16 hex>-<2 hex>`; nil for anything else: what clients send is never copied unchecked.
    public init?(_ traceparent: String) {
        let parts = traceparent.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == [2, 32, 16, 2], parts.allSatisfy({ $0.allSatisfy(Self.isLowercaseHex) }),
            parts[0].elementsEqual("00".utf8),
            let high = UInt64(Substring(parts[1].prefix(16)), radix: 16),
            let low = UInt64(Substring(parts[1].suffix(16)), radix: 16),
            let span = UInt64(Substring(parts[2]), radix: 16), let flags = UInt8(Substring(parts[3]), radix: 16),
            high | low != 0, span != 0
        else { return nil }
        self.init(trace: (high, low), span: span, isSampled: flags & 1 == 1)
    }

    /// The value of the header `traceparent` (W3C Trace Context).
    public var traceparent: String { "00-\(traceId)-\(Self.hex(span))-\(isSampled ? "01" : "00")" }

    /// The trace id, as trace viewers write it.
    public var traceId: String { Self.hex(high) + Self.hex(low) }

    private static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func isLowercaseHex(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}
