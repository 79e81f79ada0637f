import struct Foundation.Date

/// The body of an export: OTLP's `ExportTraceServiceRequest`, version 1, by the field numbers of `trace_service.proto`,
/// `trace.proto`, `resource.proto` and `common.proto`.
struct TraceRequest {
    /// The process, by OpenTelemetry's names.
    let resource: [(key: String, value: TraceSpan.Value)]
    let spans: [TraceSpan]

    /// Binary protocol buffers.
    var bytes: [UInt8] {
        var request = ProtobufWriter()
        request.message(1) { resourceSpans in
            resourceSpans.message(1) { resource in
                for attribute in self.resource { resource.attribute(1, attribute) }
            }
            resourceSpans.message(2) { scopeSpans in
                scopeSpans.message(1) { $0.text(1, "storekeeper") }
                for span in spans { scopeSpans.message(2) { $0.write(span) } }
            }
        }
        return request.bytes
    }
}

extension ProtobufWriter {
    fileprivate mutating func write(_ span: TraceSpan) {
        data(1, span.context.trace.high.bigEndianBytes + span.context.trace.low.bigEndianBytes)
        data(2, span.context.span.bigEndianBytes)
        if let parent = span.parent { data(4, parent.bigEndianBytes) }
        text(5, span.name)
        varint(6, span.kind.rawValue)
        fixed64(7, span.start.nanoseconds)
        fixed64(8, span.end.nanoseconds)
        for attribute in span.attributes { self.attribute(9, attribute) }
        if let failure = span.failure {
            message(15) { status in
                status.text(2, failure)
                status.varint(3, 2)  // STATUS_CODE_ERROR
            }
        }
    }

    fileprivate mutating func attribute(_ field: UInt64, _ attribute: (key: String, value: TraceSpan.Value)) {
        message(field) { pair in
            pair.text(1, attribute.key)
            pair.message(2) { value in
                switch attribute.value {
                case .text(let text): value.text(1, text)
                case .number(let number): value.varint(3, UInt64(bitPattern: number))
                }
            }
        }
    }
}

extension UInt64 {
    fileprivate var bigEndianBytes: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: self >> UInt64(56 - 8 * $0)) }
    }
}

extension Date {
    /// Since 1970; earlier spans cannot occur.
    fileprivate var nanoseconds: UInt64 { UInt64(max(0, timeIntervalSince1970) * 1_000_000_000) }
}
