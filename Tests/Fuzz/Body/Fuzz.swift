import AppStore
import Foundation
import StrictJSON

/// A signed payload has three segments and is the body's; one of version 1 is JSON, whatever it is without the password.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let body = Array(UnsafeBufferPointer(start: start, count: count))
    guard let payload = try? NotificationBody(body).signedPayload else { return 0 }
    guard payload.first != UInt8(ascii: "{") else {
        precondition((try? JSONDocument(payload)) != nil, "version 1 that is not JSON")
        return 0
    }
    precondition(payload.filter { $0 == UInt8(ascii: ".") }.count == 2, "not three segments")
    precondition(payload.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "bytes that base64url lacks")
    let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
    precondition(
        object.map { $0["signedPayload"] as? String == String(decoding: payload, as: UTF8.self) } ?? true,
        "another payload than Foundation reads")
    return 0
}
