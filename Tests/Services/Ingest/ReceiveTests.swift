import Testing

@testable import Ingest

@Suite struct ReceiveTests {
    private func decide(_ body: String) -> Receive.Decision { Receive().decide(Array(body.utf8)) }

    private func rejection(_ body: String) -> RequestRejection? {
        guard case .reject(let rejection) = decide(body) else { return nil }
        return rejection
    }

    @Test(arguments: [
        #"{"signedPayload":"eyJh.eyJi.c2ln"}"#,
        #" { "signedPayload" : "eyJh.eyJi.c2ln" } "#,
        #"{"other":[1,{"a":null}],"signedPayload":"eyJh.eyJi.c2ln","more":"x"}"#,
        #"{"signedPayload":"\u0065yJh.eyJi.c2ln"}"#,
        #"{"\u0073ignedPayload":"eyJh.eyJi.c2ln"}"#,
    ])
    func `Receive accepts an object with a signedPayload of three segments, byte for byte (A1)`(body: String) {
        #expect(decide(body) == .accept(signedPayload: Array("eyJh.eyJi.c2ln".utf8)))
    }

    @Test(arguments: ["YQ.YQ.YQ", "YWI.YWI.YWI", "-_-_.-_-_.-_-_", "abcd.abcdef.abcdefgh"])
    func `Receive accepts every length and character that base64url can have`(payload: String) {
        #expect(decide("{\"signedPayload\":\"\(payload)\"}") == .accept(signedPayload: Array(payload.utf8)))
    }

    @Test(arguments: [
        "", "a", ".", "..", "a.b.c", "abcd.abcd", "abcd.abcd.abcd.abcd", "abcd..abcd", ".abcd.abcd", "abcd.abcd.",
        "abcde.abcd.abcd", "abcd.abcd.abcde", "ab+d.abcd.abcd", "ab/d.abcd.abcd", "abc=.abcd.abcd", "abcd.ab cd.abcd",
        "äbcd.abcd.abcd", "abcd.abcd.abcd\\n", "abcd,abcd,abcd",
    ])
    func `Receive rejects a signedPayload that is not three base64url segments`(payload: String) {
        #expect(rejection("{\"signedPayload\":\"\(payload)\"}") == .notThreeSegments)
    }

    @Test func `Receive accepts exactly the 64 characters of base64url in a segment`() {
        let letters = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        for byte in UInt8(0x20)...0x7F where byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") {
            let payload = Array("abc".utf8) + [byte] + Array(".abcd.abcd".utf8)
            let decision = Receive().decide(Array("{\"signedPayload\":\"".utf8) + payload + Array("\"}".utf8))
            let isLetter = letters.contains(byte)
            #expect(decision == (isLetter ? .accept(signedPayload: payload) : .reject(.notThreeSegments)))
        }
    }

    @Test(arguments: ["null", "1", "true", "[\"abcd.abcd.abcd\"]", "{\"a\":1}"])
    func `Receive rejects a signedPayload that is not a string`(value: String) {
        #expect(rejection("{\"signedPayload\":\(value)}") == .signedPayloadNotAString)
    }

    @Test(arguments: ["{}", #"{"SignedPayload":"a.b.c"}"#, #"{"data":{"signedPayload":"abcd.abcd.abcd"}}"#])
    func `Receive rejects an object without a signedPayload of its own`(body: String) {
        #expect(rejection(body) == .noSignedPayload)
    }

    @Test func `Receive accepts a notification of version 1, without the shared secret (A8)`() {
        let body = #" {"unified_receipt":{"status":0},"password":"s3cr\u0065t","notification_type":"RENEWAL"}"#
        let kept = #"{"unified_receipt":{"status":0},"password":null,"notification_type":"RENEWAL"}"#
        #expect(decide(body) == .accept(signedPayload: Array(kept.utf8)))
        #expect(rejection(#"{"unified_receipt":{},"notification_type":7}"#) == .noSignedPayload)
    }

    @Test(arguments: ["[]", "\"abcd.abcd.abcd\"", "1", "null", #"[{"signedPayload":"abcd.abcd.abcd"}]"#])
    func `Receive rejects JSON that is not an object`(body: String) {
        #expect(rejection(body) == .notAnObject)
    }

    @Test(arguments: [
        "{", "}", "abcd.abcd.abcd", "signedPayload=abcd", #"{"signedPayload":"abcd.abcd.abcd"} x"#,
        #"{"signedPayload":"abcd.abcd.abcd","signedPayload":"abcd.abcd.abcd"}"#, "{'signedPayload':'a'}",
        #"{"signedPayload":"abcd.abcd.abcd",}"#, "\u{feff}{}", "<xml/>",
    ])
    func `Receive rejects a body that is not JSON`(body: String) {
        guard case .notJSON = rejection(body) else {
            Issue.record("\(body) was \(decide(body))")
            return
        }
    }

    @Test func `Receive rejects bytes that are not text`() {
        guard case .reject(.notJSON) = Receive().decide([0x7B, 0xFF, 0xFE, 0x7D]) else {
            Issue.record("invalid UTF-8 was taken")
            return
        }
    }

    @Test func `Receive limits depth`() {
        let nested = String(repeating: "[", count: 100_000)
        guard case .notJSON = rejection("{\"a\":\(nested)") else {
            Issue.record("100,000 brackets were taken")
            return
        }
    }

    @Test func `Receive names an empty body`() {
        #expect(rejection("") == .empty)
    }
}
