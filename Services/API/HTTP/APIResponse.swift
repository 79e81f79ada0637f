import Chassis
import Hummingbird
import Operations
import StrictJSON

/// The answer to a request.
struct APIResponse: Sendable {
    var status: Int
    var headers: HTTPFields
    var body: HTTPBody

    /// JSON, not to be cached unless a header says otherwise.
    init(status: Int = 200, json: [UInt8]) {
        self.status = status
        headers = [.contentType: "application/json"]
        body = .bytes(json)
    }

    /// JSON written by `write`, which is inside an object already.
    init(status: Int = 200, object write: (inout JSONWriter) throws -> Void) rethrows {
        var json = JSONWriter(capacity: 1024)
        json.beginObject()
        try write(&json)
        json.endObject()
        self.init(status: status, json: json.bytes)
    }

    /// A response without a body.
    static func empty(_ status: Int) -> APIResponse {
        var response = APIResponse(status: status, json: [])
        response.headers = HTTPFields()
        return response
    }

    /// Its bytes; empty for a stream.
    var bytes: [UInt8] {
        switch body {
        case .bytes(let bytes): bytes
        case .shared(let buffer): Array(buffer.readableBytesView)
        case .stream: []
        }
    }
}

extension APIResponse {
    /// What an operation would do.
    init(_ plan: OperationPlan) {
        self.init { json in
            json.member("dryRun", true)
            json.member("operation", plan.operation)
            json.member("subject", plan.subject)
            json.strings("effects", of: plan.effects)
            json.member("isEffective", plan.isEffective)
            json.member("doubt", plan.doubt)
        }
    }
}
