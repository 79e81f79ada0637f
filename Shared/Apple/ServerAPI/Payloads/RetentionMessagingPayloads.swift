import AppStore
import StrictJSON

import struct Foundation.UUID

/// An image that messages may show.
///
/// <https://developer.apple.com/documentation/retentionmessaging/getimagelistresponseitem>
public struct RetentionImage: Payload, Hashable {
    /// The developer's UUID of it.
    public var imageIdentifier: String?
    /// Apple's decision: `PENDING_REVIEW`, `APPROVED` or `REJECTED`.
    public var imageState: String?
    /// `FULL_SIZE` or `BULLET_POINT`.
    public var imageSize: String?

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        imageIdentifier = try fields.read("imageIdentifier")
        imageState = try fields.read("imageState")
        imageSize = try fields.read("imageSize")
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("imageIdentifier", imageIdentifier)
        writer.field("imageState", imageState)
        writer.field("imageSize", imageSize)
    }
}

/// A message with Apple's decision about it.
///
/// <https://developer.apple.com/documentation/retentionmessaging/getmessagelistresponseitem>
public struct RetentionMessage: Payload, Hashable {
    /// The developer's UUID of it.
    public var messageIdentifier: String?
    /// Apple's decision: `PENDING_REVIEW`, `APPROVED` or `REJECTED`.
    public var messageState: String?

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        messageIdentifier = try fields.read("messageIdentifier")
        messageState = try fields.read("messageState")
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("messageIdentifier", messageIdentifier)
        writer.field("messageState", messageState)
    }
}

/// All images of an app.
///
/// <https://developer.apple.com/documentation/retentionmessaging/getimagelistresponse>
struct RetentionImageList: Payload {
    var images: [RetentionImage]

    init(json: JSONValue) throws(PayloadFault) {
        images = try PayloadFields(json).read("imageIdentifiers") ?? []
    }

    func writeMembers(to writer: inout JSONWriter) { writer.field("imageIdentifiers", images) }
}

/// All messages of an app.
///
/// <https://developer.apple.com/documentation/retentionmessaging/getmessagelistresponse>
struct RetentionMessageList: Payload {
    var messages: [RetentionMessage]

    init(json: JSONValue) throws(PayloadFault) {
        messages = try PayloadFields(json).read("messageIdentifiers") ?? []
    }

    func writeMembers(to writer: inout JSONWriter) { writer.field("messageIdentifiers", messages) }
}

/// Which message is the default.
///
/// <https://developer.apple.com/documentation/retentionmessaging/defaultconfigurationrequest>
struct DefaultRetentionMessage: Payload {
    var messageIdentifier: String?

    init(_ id: UUID) { messageIdentifier = id.uuidString.lowercased() }

    init(json: JSONValue) throws(PayloadFault) { messageIdentifier = try PayloadFields(json).read("messageIdentifier") }

    func writeMembers(to writer: inout JSONWriter) { writer.field("messageIdentifier", messageIdentifier) }
}

/// The address that Apple asks.
///
/// <https://developer.apple.com/documentation/retentionmessaging/realtimeurlrequest>
struct RealtimeURL: Payload {
    var realtimeURL: String?

    init(realtimeURL: String) { self.realtimeURL = realtimeURL }

    init(json: JSONValue) throws(PayloadFault) { realtimeURL = try PayloadFields(json).read("realtimeURL") }

    func writeMembers(to writer: inout JSONWriter) { writer.field("realtimeURL", realtimeURL) }
}

/// Which subscription a performance test is about.
///
/// <https://developer.apple.com/documentation/retentionmessaging/performancetestrequest>
struct PerformanceTestRequest: Payload {
    var originalTransactionId: String?

    init(originalTransactionId: String) { self.originalTransactionId = originalTransactionId }

    init(json: JSONValue) throws(PayloadFault) {
        originalTransactionId = try PayloadFields(json).read("originalTransactionId")
    }

    func writeMembers(to writer: inout JSONWriter) { writer.field("originalTransactionId", originalTransactionId) }
}

/// A performance test of the realtime URL: begun, or with its result.
///
/// <https://developer.apple.com/documentation/retentionmessaging/performancetestresultresponse>
public struct PerformanceTest: Payload, Hashable {
    /// The id by which the result is asked for; in the answer that begins the test.
    public var requestId: String?
    /// The limits of the test, as JSON.
    public var config: RawJSON?
    /// The address that was tried.
    public var target: String?
    /// `PENDING`, `PASS` or `FAIL`.
    public var result: String?
    /// Percent of the requests that were answered in time.
    public var successRate: Int64?
    /// Requests without an answer yet.
    public var numPending: Int64?
    /// Milliseconds, as JSON.
    public var responseTimes: RawJSON?
    /// How many failed, by Apple's `sendAttemptResult`, as JSON.
    public var failures: RawJSON?

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        requestId = try fields.read("requestId")
        config = try fields.read("config")
        target = try fields.read("target")
        result = try fields.read("result")
        successRate = try fields.read("successRate")
        numPending = try fields.read("numPending")
        responseTimes = try fields.read("responseTimes")
        failures = try fields.read("failures")
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("requestId", requestId)
        writer.field("config", config)
        writer.field("target", target)
        writer.field("result", result)
        writer.field("successRate", successRate)
        writer.field("numPending", numPending)
        writer.field("responseTimes", responseTimes)
        writer.field("failures", failures)
    }
}
