import Foundation
import StrictJSON

/// Replaces the HTTP receiver, whose path the texts of rejections name.
enum Receiver {
    static let path = "/v1/notifications"
}

/// An accepted payload has three segments and is the body's; a rejected one is answered with 400 and valid JSON.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let body = Array(UnsafeBufferPointer(start: start, count: count))
    switch Receive().decide(body) {
    case .accept(let payload):
        precondition(payload.filter { $0 == UInt8(ascii: ".") }.count == 2, "not three segments")
        precondition(!payload.isEmpty && payload.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "bytes that base64url lacks")
        let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
        precondition(
            object.map { $0["signedPayload"] as? String == String(decoding: payload, as: UTF8.self) } ?? true,
            "another payload than Foundation reads")
    case .reject(let rejection):
        precondition(rejection.status == 400, "another status")
        precondition((try? JSONDocument(rejection.json)) != nil, "an answer that is not JSON")
    }
    return 0
}
