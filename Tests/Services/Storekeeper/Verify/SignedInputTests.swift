import ArgumentParser
import Testing

@testable import Storekeeper

struct SignedInputTests {
    @Test(
        arguments: [
            "a.b.c", "  a.b.c\n", #""a.b.c""#, #"{"signedPayload":"a.b.c"}"#,
            #"{"signedPayload":"a\u002eb.c","x":1}"#, #" {"signedTransactionInfo":"a.b.c"} "#,
            "\u{FEFF}a.b.c\r\n", "\u{FEFF}{\"signedPayload\":\"a.b.c\"}",
        ])
    func `Payload is found in what people paste`(text: String) throws {
        #expect(try SignedInput(Array(text.utf8)).jws == Array("a.b.c".utf8))
    }

    @Test(arguments: ["", " \n", "{", #"{"signed":"a.b.c"}"#, #"{"signedPayload":1}"#])
    func `Input without a payload is a usage error`(text: String) {
        #expect(throws: ValidationError.self) { try SignedInput(Array(text.utf8)) }
    }
}
