import AppStore
import StrictJSON

/// Why a request is not answered 200.
enum RequestRejection: Equatable {
    // It can never be a notification.
    case body(NotificationBody.Fault)
    // HTTP forbids it.
    case noSuchPath
    case method
    case contentType
    case tooLarge(limit: Int)
    case tooSlow
    // A notification that cannot be accepted now; Apple retries.
    case tooManyInFlight
    case tooManyBytes
    case addressShare
    case kafkaUnavailable

    /// The HTTP status. 4xx only for what can never be a notification.
    var status: Int {
        switch self {
        case .body: 400
        case .noSuchPath: 404
        case .method: 405
        case .tooSlow: 408
        case .tooLarge: 413
        case .contentType: 415
        case .tooManyInFlight, .tooManyBytes, .addressShare, .kafkaUnavailable: 503
        }
    }

    /// Stable, for programs and for counting.
    var name: String {
        switch self {
        case .body(.empty): "empty-body"
        case .body(.notJSON): "not-json"
        case .body(.notAnObject): "not-an-object"
        case .body(.noSignedPayload): "no-signed-payload"
        case .body(.signedPayloadNotAString): "signed-payload-not-a-string"
        case .body(.notThreeSegments): "not-three-segments"
        case .noSuchPath: "no-such-path"
        case .method: "method"
        case .contentType: "content-type"
        case .tooLarge: "too-large"
        case .tooSlow: "too-slow"
        case .tooManyInFlight: "too-many-in-flight"
        case .tooManyBytes: "too-many-bytes"
        case .addressShare: "address-share"
        case .kafkaUnavailable: "kafka-unavailable"
        }
    }

    /// What is wrong, and what to send instead.
    var message: String {
        switch self {
        case .body(.empty): "The body is empty; expected a JSON object with a string signedPayload."
        case .body(.notJSON(let fault)): "The body is not JSON: \(fault)"
        case .body(.notAnObject): "The body is not a JSON object; expected one with a string signedPayload."
        case .body(.noSignedPayload):
            "The body has no signedPayload; expected an App Store Server Notification of version 2."
        case .body(.signedPayloadNotAString): "The signedPayload is not a string."
        case .body(.notThreeSegments): "The signedPayload is not a JWS: three base64url segments separated by dots."
        case .noSuchPath: "Unknown path; send notifications to POST \(Receiver.path)."
        case .method: "Unknown method; notifications are sent by POST."
        case .contentType: "The content type must be application/json."
        case .tooLarge(let limit): "The body is larger than \(limit) bytes."
        case .tooSlow: "The request took too long to arrive."
        case .tooManyInFlight: "Too many requests wait for Kafka; send it again later."
        case .tooManyBytes: "Requests in progress hold too many bytes, and this one took longest; send it again later."
        case .addressShare: "Too many requests of this address are in progress; send it again later."
        case .kafkaUnavailable: "Kafka unavailable; send it again later."
        }
    }

    /// `{"error": name, "message": sentence}`.
    var json: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("error", name)
        json.member("message", message)
        json.endObject()
        return json.bytes
    }
}
