import AppStore
import Digests
import Foundation
import Signatures

extension ForgeryMaterial {
    /// Headers that say something else than ES256 and three certificates.
    func headers() throws -> [Forgery] {
        let x5c = authority.x5c.map { "\"\($0)\"" }.joined(separator: ",")
        let algorithms = [
            "\"none\"", "\"None\"", "\"NONE\"", "\"\"", "\"HS256\"", "\"RS256\"", "\"PS256\"", "\"ES384\"", "\"ES512\"",
            "\"ES256K\"", "\"EdDSA\"", "\"es256\"", "\"Es256\"", "\"ES256 \"", "\" ES256\"", "null", "256", "true",
            "[\"ES256\"]", "{\"alg\":\"ES256\"}", "\"ЕS256\"",
        ]
        var cases = try algorithms.map {
            Forgery("alg \($0)", .algorithm, try underHeader(#"{"alg":\#($0),"x5c":[\#(x5c)]}"#))
        }
        cases.append(Forgery("no alg", .algorithm, try underHeader("{\"x5c\":[\(x5c)]}")))
        cases.append(
            Forgery("alg in capitals as a name", .algorithm, try underHeader("{\"ALG\":\"ES256\",\"x5c\":[\(x5c)]}")))
        cases.append(Forgery("an empty object", .algorithm, try underHeader("{}")))
        cases.append(Forgery("HS256 with the certificate as key", .algorithm, symmetric()))
        for critical in ["[]", "[\"b64\"]", "[\"exp\"]", "null"] {
            let header = #"{"alg":"ES256","crit":\#(critical),"x5c":[\#(x5c)]}"#
            cases.append(Forgery("crit \(critical)", .algorithm, try underHeader(header)))
        }
        for (name, header) in [
            ("not JSON", "ES256"), ("an array", "[]"), ("a string", "\"ES256\""), ("null", "null"), ("a number", "1"),
            ("alg twice", #"{"alg":"ES256","alg":"none","x5c":[\#(x5c)]}"#),
            ("alg twice, once escaped", #"{"alg":"ES256","a\u006cg":"none","x5c":[\#(x5c)]}"#),
            ("x5c twice", #"{"alg":"ES256","x5c":[\#(x5c)],"x5c":[]}"#),
            ("something behind the object", #"{"alg":"ES256","x5c":[\#(x5c)]}{}"#),
            ("a NUL", #"{"alg":"ES256","kid":"\u0000","x5c":[\#(x5c)]}"#),
            ("a byte order mark", "\u{FEFF}{\"alg\":\"ES256\",\"x5c\":[\(x5c)]}"),
            ("no x5c", #"{"alg":"ES256"}"#), ("only a jwk", #"{"alg":"ES256","jwk":{"kty":"EC","crv":"P-256"}}"#),
            ("only an x5u", #"{"alg":"ES256","x5u":"https://example.com/chain.pem"}"#),
            ("only a kid", #"{"alg":"ES256","kid":"key"}"#), ("x5c null", #"{"alg":"ES256","x5c":null}"#),
            ("x5c a string", #"{"alg":"ES256","x5c":"\#(authority.x5c[0])"}"#),
            ("x5c an object", #"{"alg":"ES256","x5c":{"0":"\#(authority.x5c[0])"}}"#),
            ("10,000 levels deep", #"{"alg":"ES256","a":"# + String(repeating: "[", count: 10_000)),
        ] {
            cases.append(Forgery("a header with \(name)", .malformed, try underHeader(header)))
        }
        let utf16 = "{\"alg\":\"ES256\"}".utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        cases.append(Forgery("a header in UTF-16", .malformed, try underHeader(utf16)))
        cases.append(
            Forgery(
                "a header that is not UTF-8", .malformed,
                try underHeader(Array("{\"alg\":\"".utf8) + [0xFF, 0x22, 0x7D])))
        return cases
    }

    /// A MAC that is valid with the leaf certificate as key.
    private func symmetric() -> [UInt8] {
        let header = Base64.encode(CompactJWS.headerJSON(x5c: authority.x5c, algorithm: "HS256"), .url)
        let text = header + [UInt8(ascii: ".")] + Base64.encode(envelope().json, .url)
        let key = SHA256Hash.digest(authority.leaf) + [UInt8](repeating: 0, count: 32)
        let inner = SHA256Hash.digest(key.map { $0 ^ 0x36 } + text)
        let code = SHA256Hash.digest(key.map { $0 ^ 0x5C } + inner)
        return text + [UInt8(ascii: ".")] + Base64.encode(code, .url)
    }
}
