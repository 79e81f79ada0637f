import Foundation
import StrictJSON

/// Stands in for the HTTP side, of which the refusals' texts name the path.
enum Receiver {
    static let path = "/v1/notifications"
}

/// What is accepted has three segments and is what the body says; what is refused is answered with 400 and valid JSON.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let body = Array(UnsafeBufferPointer(start: start, count: count))
    switch Receive().decide(body) {
    case .accept(let payload):
        precondition(payload.filter { $0 == UInt8(ascii: ".") }.count == 2, "not three segments")
        precondition(!payload.isEmpty && payload.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "letters base64url lacks")
        let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
        precondition(
            object.map { $0["signedPayload"] as? String == String(decoding: payload, as: UTF8.self) } ?? true,
            "another payload than Foundation reads")
    case .reject(let rejection):
        precondition(rejection.status == 400, "a status that says something else")
        precondition((try? JSONDocument(rejection.json)) != nil, "an answer that is not JSON")
    }
    return 0
}
