import AppStore
import AppStoreSamples
import Development
import Digests
import Foundation
import Signatures
import StrictJSON

/// Writes the authority that the targets trust, and the first inputs of each target, into the directory FUZZ_SEEDS.
///
/// libFuzzer brings `main` here, too, and calls this before anything else.
@_cdecl("LLVMFuzzerInitialize")
public func writeSeeds(
    _ count: UnsafeMutablePointer<CInt>?,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>?
) -> CInt {
    guard let directory = ProcessInfo.processInfo.environment["FUZZ_SEEDS"] else {
        FileHandle.standardError.write(Data("fuzz-seeds: FUZZ_SEEDS must name a directory\n".utf8))
        exit(64)
    }
    do {
        try Seeds(directory: URL(filePath: directory)).write()
        exit(0)
    } catch {
        FileHandle.standardError.write(Data("fuzz-seeds: \(error)\n".utf8))
        exit(1)
    }
}

/// Never called.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt { 0 }

private struct Seeds {
    let directory: URL

    func write() throws {
        let corpus = try ForgeryCorpus(now: Date())
        let material = corpus.material
        try material.authority.save(to: directory.appending(path: "authority"))
        let genuine = try material.signed(material.envelope())
        try Data(genuine).write(to: directory.appending(path: "genuine.jws"))
        try writePayloads(corpus)
        try writeTexts()
        try writeResponses(material)
    }

    /// Named by its content, so that equal inputs are there once.
    private func write(_ bytes: [UInt8], for target: String) throws {
        let corpus = directory.appending(path: target)
        try FileManager.default.createDirectory(at: corpus, withIntermediateDirectories: true)
        let name = SHA256Hash.digest(bytes).prefix(10).map { String(format: "%02x", $0) }.joined()
        try Data(bytes).write(to: corpus.appending(path: "seed-\(name)"))
    }

    /// The corpus of forgeries is the best start: it has every shape that the verifier distinguishes.
    private func writePayloads(_ corpus: ForgeryCorpus) throws {
        for item in corpus.all where item.jws.count < 1 << 16 {
            let parts = item.jws.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Array.init)
            try write([0] + item.jws, for: "jws")
            try write(Array(#"{"signedPayload":"\#(String(decoding: item.jws, as: UTF8.self))"}"#.utf8), for: "body")
            guard parts.count == 3 else { continue }
            try write([1] + parts[0], for: "jws")
            try write([3] + parts[1], for: "jws")
            try write([4] + parts[2], for: "jws")
            if let payload = Base64.decode(parts[1][...], .url) { try write(payload, for: "json") }
            guard let header = Base64.decode(parts[0][...], .url) else { continue }
            try write([2] + header, for: "jws")
            try write(header, for: "json")
            let named = (try? JSONDocument(header))?.root["x5c"]?.elements ?? []
            let chain = named.compactMap { $0.unescapedBytes.flatMap { Base64.decode($0[...], .standard) } }
            // Each certificate behind its length.
            let framed = chain.flatMap { [UInt8($0.count >> 8 & 0xFF), UInt8($0.count & 0xFF)] + $0 }
            if !framed.isEmpty { try write(framed, for: "certificates") }
        }
    }

    private func writeTexts() throws {
        for body in [
            "", "{}", "[]", "null", #"{"signedPayload":null}"#, #"{"signedPayload":"a.b.c","signedPayload":"d.e.f"}"#,
            #"{"\u0073ignedPayload":"\u0061aa.bbb.ccc"}"#, #"{"signedPayload":"aaa.bbb.ccc"} "#,
            #" {"notification_type":"RENEWAL","password":"s3cr\u0065t"}"#,
        ] {
            try write(Array(body.utf8), for: "body")
            try write(Array(body.utf8), for: "json")
        }
        for text in [
            "-0.5e-7", #""\ud83d\ude00\u0041\\\/""#, "[[[[1,2.0,true,false,null]]]]", #"{"a":{"a":{"é":"\n"}}}"#,
        ] {
            try write(Array(text.utf8), for: "json")
        }
    }

    private func writeResponses(_ material: ForgeryMaterial) throws {
        let leaf = try Certificate(der: material.authority.leaf)
        let issuers = [material.authority.intermediateIssuer, material.authority.rootIssuer]
        let request = try OCSPRequest(about: leaf, issuedBy: issuers[0].certificate, nonce: Array(1...16))
        let moment = leaf.notBefore.addingTimeInterval(401 * 86_400)
        try write(request.der, for: "revocation")
        try write(OCSPResponder.busy(), for: "revocation")
        for repeatsNonce in [true, false] {
            var responder = OCSPResponder(authorities: issuers.map { .init($0) })
            responder.repeatsNonce = repeatsNonce
            try write(
                responder.response(to: request.der, now: moment) { _ in .revoked(moment, reason: "unspecified") },
                for: "revocation")
        }
    }
}
