import AppStore
import Testing

@Suite struct NotificationBodyTests {
    private func read(_ body: [UInt8]) -> Result<[UInt8], NotificationBody.Fault> {
        Result { () throws(NotificationBody.Fault) in try NotificationBody(body).signedPayload }
    }

    private func read(_ body: String) -> Result<[UInt8], NotificationBody.Fault> { read(Array(body.utf8)) }

    @Test(arguments: [
        #"{"signedPayload":"eyJh.eyJi.c2ln"}"#,
        #" { "signedPayload" : "eyJh.eyJi.c2ln" } "#,
        #"{"other":[1,{"a":null}],"signedPayload":"eyJh.eyJi.c2ln","more":"x"}"#,
        #"{"signedPayload":"\u0065yJh.eyJi.c2ln"}"#,
        #"{"\u0073ignedPayload":"eyJh.eyJi.c2ln"}"#,
    ])
    func `NotificationBody accepts an object with a signedPayload of three segments, byte for byte (A1)`(body: String) {
        #expect(read(body) == .success(Array("eyJh.eyJi.c2ln".utf8)))
    }

    @Test(arguments: ["YQ.YQ.YQ", "YWI.YWI.YWI", "-_-_.-_-_.-_-_", "abcd.abcdef.abcdefgh"])
    func `NotificationBody accepts every length and character that base64url can have`(payload: String) {
        #expect(read("{\"signedPayload\":\"\(payload)\"}") == .success(Array(payload.utf8)))
    }

    @Test(arguments: [
        "", "a", ".", "..", "a.b.c", "abcd.abcd", "abcd.abcd.abcd.abcd", "abcd..abcd", ".abcd.abcd", "abcd.abcd.",
        "abcde.abcd.abcd", "abcd.abcd.abcde", "ab+d.abcd.abcd", "ab/d.abcd.abcd", "abc=.abcd.abcd", "abcd.ab cd.abcd",
        "äbcd.abcd.abcd", "abcd.abcd.abcd\\n", "abcd,abcd,abcd",
    ])
    func `NotificationBody rejects a signedPayload that is not three base64url segments`(payload: String) {
        #expect(read("{\"signedPayload\":\"\(payload)\"}") == .failure(.notThreeSegments))
    }

    @Test func `NotificationBody accepts exactly the 64 characters of base64url in a segment`() {
        let letters = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        for byte in UInt8(0x20)...0x7F where byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") {
            let payload = Array("abc".utf8) + [byte] + Array(".abcd.abcd".utf8)
            let result = read(Array("{\"signedPayload\":\"".utf8) + payload + Array("\"}".utf8))
            let isLetter = letters.contains(byte)
            #expect(result == (isLetter ? .success(payload) : .failure(.notThreeSegments)))
        }
    }

    @Test(arguments: ["null", "1", "true", "[\"abcd.abcd.abcd\"]", "{\"a\":1}"])
    func `NotificationBody rejects a signedPayload that is not a string`(value: String) {
        #expect(read("{\"signedPayload\":\(value)}") == .failure(.signedPayloadNotAString))
    }

    @Test(arguments: ["{}", #"{"SignedPayload":"a.b.c"}"#, #"{"data":{"signedPayload":"abcd.abcd.abcd"}}"#])
    func `NotificationBody rejects an object without a signedPayload of its own`(body: String) {
        #expect(read(body) == .failure(.noSignedPayload))
    }

    @Test func `NotificationBody accepts a notification of version 1, without the shared secret (A8)`() {
        let body = #" {"unified_receipt":{"status":0},"password":"s3cr\u0065t","notification_type":"RENEWAL"}"#
        let kept = #"{"unified_receipt":{"status":0},"password":null,"notification_type":"RENEWAL"}"#
        #expect(read(body) == .success(Array(kept.utf8)))
        #expect(read(#"{"unified_receipt":{},"notification_type":7}"#) == .failure(.noSignedPayload))
    }

    @Test(arguments: ["[]", "\"abcd.abcd.abcd\"", "1", "null", #"[{"signedPayload":"abcd.abcd.abcd"}]"#])
    func `NotificationBody rejects JSON that is not an object`(body: String) {
        #expect(read(body) == .failure(.notAnObject))
    }

    @Test(arguments: [
        "{", "}", "abcd.abcd.abcd", "signedPayload=abcd", #"{"signedPayload":"abcd.abcd.abcd"} x"#,
        #"{"signedPayload":"abcd.abcd.abcd","signedPayload":"abcd.abcd.abcd"}"#, "{'signedPayload':'a'}",
        #"{"signedPayload":"abcd.abcd.abcd",}"#, "\u{feff}{}", "<xml/>",
    ])
    func `NotificationBody rejects a body that is not JSON`(body: String) {
        guard case .failure(.notJSON) = read(body) else {
            Issue.record("\(body) was \(read(body))")
            return
        }
    }

    @Test func `NotificationBody rejects bytes that are not text`() {
        guard case .failure(.notJSON) = read([0x7B, 0xFF, 0xFE, 0x7D]) else {
            Issue.record("invalid UTF-8 was taken")
            return
        }
    }

    @Test func `NotificationBody limits depth`() {
        let nested = String(repeating: "[", count: 100_000)
        guard case .failure(.notJSON) = read("{\"a\":\(nested)") else {
            Issue.record("100,000 brackets were taken")
            return
        }
    }

    @Test func `NotificationBody names an empty body`() {
        #expect(read("") == .failure(.empty))
    }
}
