import AppStore
import Foundation
import Signatures

extension ForgeryMaterial {
    /// Genuinely signed, and not an acceptable payload.
    func bodies() throws -> [Forgery] {
        let plain = json(envelope())
        func replacing(_ old: String, _ new: String) -> String { plain.replacing(old, with: new) }
        let utf16 = plain.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        let bundle = #""bundleId":"\#(Self.bundleId)""#
        let texts: [(String, String)] = [
            ("no JSON", "hello"), ("nothing but a space", " "), ("an array", "[\(plain)]"), ("a string", "\"text\""),
            ("null", "null"),
            ("an object cut short", String(plain.dropLast())), ("something behind it", plain + "x"),
            ("two objects", plain + plain),
            ("bundleId twice", replacing(bundle, bundle + #","bundleId":"com.example.other""#)),
            ("bundleId twice, once escaped", replacing(bundle, bundle + #","bundle\u0049d":"com.example.other""#)),
            ("data twice", plain.dropLast() + #","data":{}}"#), ("a byte order mark", "\u{FEFF}" + plain),
            ("a NUL in a string", plain.dropLast() + #","a":"\u0000"}"#),
            ("half a surrogate pair", plain.dropLast() + #","a":"\uD800"}"#),
            (
                "10,000 levels",
                plain.dropLast() + ",\"a\":" + String(repeating: "[", count: 10_000)
                    + String(repeating: "]", count: 10_000) + "}"
            ),
            (
                "17 levels",
                plain.dropLast() + ",\"a\":" + String(repeating: "[", count: 16) + String(repeating: "]", count: 16)
                    + "}"
            ),
            ("a comma too many", plain.dropLast() + ",}"), ("a comment", plain + "/* */"), ("single quotes", "{'a':1}"),
            ("a date in text", replacing("\"signedDate\":", "\"signedDate\":\"now\",\"x\":")),
            ("a date that is infinite", replacing("\"signedDate\":", "\"signedDate\":1e999,\"x\":")),
            ("a subject that is an array", plain.dropLast() + ",\"summary\":[]}"),
            ("data that is text", replacing("\"data\":", "\"data\":\"x\",\"x\":")),
            ("no type", replacing("notificationType", "x")), ("an empty type", replacing("DID_RENEW", "")),
            ("a type that is a number", replacing("\"DID_RENEW\"", "5")),
            ("no UUID", replacing("notificationUUID", "x")),
            ("a UUID that is none", replacing("b5e0a6a0-", "hello")),
            ("a subtype that is a number", plain.dropLast() + ",\"subtype\":1}"),
            ("no bundleId", replacing("bundleId", "x")),
            ("a bundleId that is a number", replacing("\"\(Self.bundleId)\"", "1")),
            ("an empty bundleId", replacing(Self.bundleId, "")), ("no environment", replacing("environment", "x")),
            ("an environment that is a number", replacing("\"Production\"", "1")),
            ("an Apple id in text", replacing("1234567890", "\"1234567890\"")),
            ("an Apple id with a fraction", replacing("1234567890", "1234567890.5")),
            (
                "signedTransactionInfo that is a number",
                replacing("\"data\":{", "\"data\":{\"signedTransactionInfo\":5,")
            ),
            (
                "signedTransactionInfo that is an object",
                replacing("\"data\":{", "\"data\":{\"signedTransactionInfo\":{},")
            ),
        ]
        var cases = try texts.map { Forgery("a body with \($0.0)", .body, try signed(json: $0.1)) }
        cases.append(Forgery("a body in UTF-16", .body, try signer.sign(utf16)))
        cases.append(
            Forgery(
                "a body that is not UTF-8", .body,
                try signer.sign(Array(plain.utf8.dropLast()) + Array(",\"a\":\"".utf8) + [0xC0, 0x80, 0x22, 0x7D])))
        cases.append(Forgery("a transaction as a notification", .body, try signed(transaction())))
        cases.append(Forgery("renewal information as a notification", .body, try signed(renewal())))
        cases.append(Forgery("an app transaction as a notification", .body, try signed(appTransaction())))
        cases.append(Forgery("a notification as a transaction", .body, try signed(envelope()), door: .transaction))
        cases.append(
            Forgery("a notification as renewal information", .body, try signed(envelope()), door: .renewalInfo))
        cases.append(
            Forgery("a notification as an app transaction", .body, try signed(envelope()), door: .appTransaction))
        cases.append(
            Forgery(
                "a transaction with its id as a number", .body,
                try signed(
                    json: json(transaction()).replacing("\"transactionId\":\"", with: "\"transactionId\":1,\"x\":\"")),
                door: .transaction))
        cases.append(
            Forgery(
                "a purchase token without its id", .body,
                try signed(json: json(tokenEnvelope("x", Self.bundleId)).replacing("externalPurchaseId", with: "y"))))
        return cases
    }
}
