import AppStore
import Foundation
import Signatures

extension ForgeryMaterial {
    /// Entries of `x5c` that are not exactly one certificate in standard base64 of strict DER.
    func certificates() throws -> [Forgery] {
        let leaf = authority.x5c[0]
        let url = leaf.replacing("+", with: "-").replacing("/", with: "_")
        let unpadded = leaf.replacing("=", with: "")
        func encoded(_ der: [UInt8]) -> String { Data(der).base64EncodedString() }
        let entries: [(String, String)] = [
            ("an empty string", ""), ("white space", " " + leaf), ("a line feed behind", leaf + "\\n"),
            ("line feeds every 64 characters", lines(leaf)), ("base64url", url + (url == leaf ? "-" : "")),
            ("no padding", unpadded == leaf ? leaf + "=" : unpadded), ("PEM", "-----BEGIN CERTIFICATE-----\\n" + leaf),
            ("base64 of base64", encoded(Array(leaf.utf8))),
            ("a byte behind the certificate", encoded(authority.leaf + [0])),
            ("two certificates in one", encoded(authority.leaf + authority.intermediate)),
            ("a byte missing", encoded(Array(authority.leaf.dropLast()))),
            ("BER lengths", encoded(longLength(authority.leaf))),
            ("an indefinite length", encoded(indefiniteLength(authority.leaf))), ("one byte", encoded([0x30])),
            ("zeros", encoded([UInt8](repeating: 0, count: 1000))),
            ("half a megabyte", encoded([UInt8](repeating: 0x30, count: 500_000))),
            ("just over 4 KiB", encoded([UInt8](repeating: 0x30, count: 4097))),
            ("an empty sequence", encoded([0x30, 0])),
            ("text", encoded(Array("certificate".utf8))),
        ]
        var cases: [Forgery] = []
        for (name, entry) in entries {
            for place in 0..<3 where place == 0 || name == "zeros" || name == "white space" || name == "half a megabyte"
            {
                var x5c = authority.x5c
                x5c[place] = entry
                let list = x5c.map { "\"\($0)\"" }.joined(separator: ",")
                cases.append(
                    Forgery(
                        "x5c[\(place)] is \(name)", .certificateMalformed,
                        try underHeader(#"{"alg":"ES256","x5c":[\#(list)]}"#)))
            }
        }
        for (name, list) in [("numbers", "1,2,3"), ("nulls", "null,null,null"), ("arrays", "[],[],[]")] {
            cases.append(
                Forgery(
                    "x5c holds \(name)", .certificateMalformed, try underHeader(#"{"alg":"ES256","x5c":[\#(list)]}"#)))
        }
        return cases
    }

    private func lines(_ text: String) -> String {
        stride(from: 0, to: text.count, by: 64).map { String(text.dropFirst($0).prefix(64)) }.joined(separator: "\\n")
    }

    /// The outer length in one byte more than needed: the same certificate to a lenient reader.
    private func longLength(_ der: [UInt8]) -> [UInt8] { [0x30, 0x83, 0x00, der[2], der[3]] + der[4...] }

    private func indefiniteLength(_ der: [UInt8]) -> [UInt8] { [0x30, 0x80] + der[4...] + [0, 0] }
}
