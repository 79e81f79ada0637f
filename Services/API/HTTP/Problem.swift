import Hummingbird
import Operations
import Storage
import StrictJSON

/// An answer that says what went wrong and what to do, as RFC 9457 has it. All of them are listed here.
struct Problem: Error, Sendable {
    /// Stable: programs decide by it.
    enum Kind: String, Sendable, CaseIterable {
        case malformedRequest = "malformed-request"
        case malformedJSON = "malformed-json"
        case invalidRequest = "invalid-request"
        case invalidCursor = "invalid-cursor"
        case missingKey = "missing-key"
        case invalidKey = "invalid-key"
        case missingScope = "missing-scope"
        case appNotAllowed = "app-not-allowed"
        case wrongEnvironment = "wrong-environment"
        case noSuchPath = "no-such-path"
        case methodNotAllowed = "method-not-allowed"
        case notFound = "not-found"
        case requestInProgress = "request-in-progress"
        case conflict
        case alreadyAnswered = "already-answered"
        case outcomeUnknown = "outcome-unknown"
        case tooManyTransfers = "too-many-transfers"
        case requestTimeout = "request-timeout"
        case bodyTooLarge = "body-too-large"
        case unsupportedMediaType = "unsupported-media-type"
        case idempotencyMismatch = "idempotency-mismatch"
        case nothingVerified = "nothing-verified"
        case tooManyRequests = "too-many-requests"
        case internalError = "internal-error"
        case unavailable
    }

    var kind: Kind
    /// What is wrong with this request, and what to do.
    var detail: String
    /// Where in the body, or in which parameter.
    var faults: [ValueFault] = []
    var headers = HTTPFields()
    /// Further members, each one JSON value.
    var members: [(name: String, json: [UInt8])] = []
    /// True where the request had no effect and may succeed once other things are stored, as moments after an upload: its Idempotency-Key is free
    /// again.
    var mayPass = false

    init(_ kind: Kind, _ detail: String, faults: [ValueFault] = [], headers: HTTPFields = HTTPFields()) {
        self.kind = kind
        self.detail = detail
        self.faults = faults
        self.headers = headers
    }
}

extension ClientKey {
    /// - Throws: `Problem` where the key lacks the scope.
    func require(_ scope: APIScope) throws(Problem) {
        guard !scopes.contains(scope) else { return }
        throw Problem(
            .missingScope,
            "The key “\(name)” lacks the scope \(scope.rawValue); create one with `storekeeper keys create "
                + "--scope \(scope.rawValue)`.")
    }
}

extension Problem.Kind {
    /// A name that never changes, whatever host serves it.
    var type: String { "urn:storekeeper:problem:\(rawValue)" }

    var status: Int {
        switch self {
        case .malformedRequest, .malformedJSON, .invalidRequest, .invalidCursor: 400
        case .missingKey, .invalidKey: 401
        case .missingScope, .appNotAllowed, .wrongEnvironment: 403
        case .noSuchPath, .notFound: 404
        case .methodNotAllowed: 405
        case .requestTimeout: 408
        case .requestInProgress, .conflict, .alreadyAnswered, .outcomeUnknown, .tooManyTransfers: 409
        case .bodyTooLarge: 413
        case .unsupportedMediaType: 415
        case .idempotencyMismatch, .nothingVerified: 422
        case .tooManyRequests: 429
        case .internalError: 500
        case .unavailable: 503
        }
    }

    var title: String {
        switch self {
        case .malformedRequest: "The request cannot be read"
        case .malformedJSON: "The body is not JSON"
        case .invalidRequest: "The request is not as the document describes"
        case .invalidCursor: "The cursor is not one of ours"
        case .missingKey: "The request has no API key"
        case .invalidKey: "The API key is not valid"
        case .missingScope: "The API key lacks a scope"
        case .appNotAllowed: "The API key is not for this app"
        case .wrongEnvironment: "The API key is for another environment"
        case .noSuchPath: "There is no such path"
        case .methodNotAllowed: "The path has no such method"
        case .notFound: "Not found"
        case .requestInProgress: "The first request with this Idempotency-Key is in progress"
        case .conflict: "The request contradicts what is stored"
        case .alreadyAnswered: "The refund request is answered already"
        case .outcomeUnknown: "Apple did not say whether it has done it"
        case .tooManyTransfers: "The purchase has moved between accounts too often"
        case .requestTimeout: "The request did not arrive in time"
        case .bodyTooLarge: "The body is too large"
        case .unsupportedMediaType: "The body has another media type"
        case .idempotencyMismatch: "The Idempotency-Key was used for another request"
        case .nothingVerified: "Nothing of the upload could be verified"
        case .tooManyRequests: "Too many requests"
        case .internalError: "The service failed"
        case .unavailable: "The service cannot answer now"
        }
    }

    /// What a client does about it.
    var advice: String {
        switch self {
        case .malformedRequest: "The bytes are no HTTP request that the service takes: use an HTTP library."
        case .malformedJSON: "Send strict JSON in UTF-8, without duplicate members; `detail` says where it ends to be."
        case .invalidRequest: "Fix what `errors` names; it will not succeed as it is."
        case .invalidCursor: "Begin the list again, without a cursor."
        case .missingKey: "Send the header `Authorization: Bearer sk_…`."
        case .invalidKey: "Use a key that is not expired or revoked: `storekeeper keys list`."
        case .alreadyAnswered: "Nothing is left to do: Apple gets one answer to a request."
        case .missingScope: "Use a key with the scope that `detail` names."
        case .appNotAllowed: "Use a key that is for the app."
        case .wrongEnvironment: "Use the key of that environment: `sk_live_…` is Production, `sk_test_…` the sandbox."
        case .noSuchPath: "Look for the path in the document."
        case .methodNotAllowed: "Use a method of the header `Allow`."
        case .notFound: "What the path or the body names is not known, or is another app's."
        case .requestInProgress: "Wait a moment and send the same request with the same `Idempotency-Key`."
        case .conflict: "Read `detail`: it says what is stored, and what would succeed."
        case .outcomeUnknown: "Look whether Apple did it (`GET` the purchase) before sending it again."
        case .tooManyTransfers: "An operator decides: `storekeeper customers choose`. Then restore it once more."
        case .requestTimeout: "Send the whole request within the time that the service waits."
        case .bodyTooLarge: "Send fewer parts at once."
        case .unsupportedMediaType: "Send `Content-Type: application/json`."
        case .idempotencyMismatch: "Use a new `Idempotency-Key` for another request."
        case .nothingVerified: "Read `rejected`, part by part; the same upload will not succeed."
        case .tooManyRequests: "Wait as long as `Retry-After` says."
        case .internalError: "Send it again; where it stays, read the log of the service by the time of the answer."
        case .unavailable: "Send it again after `Retry-After`; the answers that you keep hold until their `until`."
        }
    }

    /// Whether the same request may succeed later.
    var isRetryable: Bool {
        switch self {
        case .requestInProgress, .requestTimeout, .tooManyRequests, .internalError, .unavailable: true
        default: false
        }
    }
}

extension Problem {
    /// An operation did nothing.
    init(_ error: OperationError) {
        let text = "\(error)"
        let detail = text.prefix(1).uppercased() + text.dropFirst() + (text.hasSuffix(".") ? "" : ".")
        switch error.kind {
        case .invalid(let member):
            self.init(.invalidRequest, detail, faults: [ValueFault(pointer: "/\(member)", detail: text)])
        case .notFound: self.init(.notFound, detail)
        case .failed, .unconfirmed: self.init(.conflict, detail)
        }
    }

    /// The request names an account that was erased.
    static let erased = Problem(
        .conflict, "The account was erased on the customer's request; PUT the customer again for a new appAccountToken."
    )

    /// `application/problem+json`.
    var response: APIResponse {
        var json = JSONWriter()
        json.beginObject()
        json.member("type", kind.type)
        json.member("title", kind.title)
        json.member("status", kind.status)
        json.member("detail", detail)
        json.member("retryable", kind.isRetryable)
        if !faults.isEmpty {
            json.objects("errors", of: faults) { json, fault in
                json.member("pointer", fault.pointer)
                json.member("detail", fault.detail)
            }
        }
        for member in members { json.member(member.name, raw: member.json) }
        json.endObject()
        var response = APIResponse(status: kind.status, json: json.bytes)
        response.headers = headers
        response.headers[.contentType] = "application/problem+json"
        return response
    }
}
