import AppStore
import Development
import Foundation
import Signatures
import StrictJSON
import TestSupport
import Testing

@testable import AppStoreSamples

/// This verifier beside Apple's own Python library, over the corpus and ten thousand mutations.
///
/// Runs where `STOREKEEPER_DIFFERENTIAL_PYTHON` names a Python that has the package app-store-server-library.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["STOREKEEPER_DIFFERENTIAL_PYTHON"] != nil))
struct DifferentialTests {
    /// What Apple's library accepts and we reject, and why.
    private static let stricter: [VerificationFailureReason: String] = [
        .malformed: "it forgives base64 that is not canonical and what is in a header besides alg and x5c",
        .certificateMalformed: "it never looks at the third certificate, and forgives stray bits and BER in the others",
        .chainUntrusted: "it accepts certificates signed over SHA-1, and a leaf that is an authority",
        .keyUsage: "it does not ask whether the leaf may sign",
        .body: "it takes the last of two equal keys, any depth and other encodings, and does not look at all types",
        .notYetValid: "it accepts any signedDate at which the certificates are valid",
        .expiredAtSigning: "it accepts any signedDate at which the certificates are valid",
        .appMismatch: "it looks at the Apple id in production only",
        .nestedMismatch: "it proves what is inside by itself and compares nothing",
    ]

    /// What we accept and Apple's library rejects, and why.
    private static let moreLenient: [String: String] = [
        "a date in microseconds":
            "it takes them for milliseconds, in which no certificate is valid any more; they occur",
        "an empty environment inside": "it knows its one environment only; empty ones occur",
    ]

    @Test(.hangLimit)
    func `Verifier disagrees with Apple's library only as listed`() throws {
        let now = Date()
        let corpus = try ForgeryCorpus(now: now)
        let material = corpus.material
        var random = SeededGenerator(state: 1)
        let items =
            try corpus.all.filter { $0.jws.count < 1 << 20 } + material.mutations(count: 10_000, using: &random)
        let verifier = try material.verifier()
        let apples = try AppleLibrary(material: material).verdicts(on: items)
        try #require(apples.count == items.count)
        var agreements = 0
        var disagreements: [String: Int] = [:]
        for (item, verdict) in zip(items, apples) {
            let rejection = item.rejection(by: verifier, now: now)
            switch (rejection, verdict.hasPrefix("accepted")) {
            case (nil, true), (.some, false): agreements += 1
            case (.some(let rejection), true):
                disagreements["we refuse: \(rejection.message.prefix(100))", default: 0] += 1
                #expect(Self.stricter[rejection.reason] != nil, "only Apple accepts \(item.name): \(rejection)")
            case (nil, false):
                disagreements["we accept: \(item.name)", default: 0] += 1
                #expect(Self.moreLenient[item.name] != nil, "only we accept \(item.name): \(verdict)")
            }
        }
        for (what, times) in disagreements.sorted(by: { $0.value > $1.value }) { print(times, what) }
        print("agreed on \(agreements) of \(items.count)")
    }
}

/// The library in a process of its own.
private struct AppleLibrary {
    let material: ForgeryMaterial

    func verdicts(on items: [Forgery]) throws -> [String] {
        var input = settings()
        for item in items {
            var writer = JSONWriter(capacity: item.jws.count + 64)
            writer.beginObject()
            writer.member("door", "\(item.door)")
            writer.member("jws", String(decoding: item.jws, as: UTF8.self))
            writer.endObject()
            input += writer.bytes + [UInt8(ascii: "\n")]
        }
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let inputFile = directory.url("payloads")
        let outputFile = directory.url("verdicts")
        try Data(input).write(to: inputFile)
        try Data().write(to: outputFile)
        let process = Process()
        process.executableURL = URL(
            fileURLWithPath: ProcessInfo.processInfo.environment["STOREKEEPER_DIFFERENTIAL_PYTHON"] ?? "python3")
        process.arguments = [script.path]
        process.standardInput = try FileHandle(forReadingFrom: inputFile)
        process.standardOutput = try FileHandle(forWritingTo: outputFile)
        try process.start()
        process.waitUntilExit()
        return try String(contentsOf: outputFile, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    /// Tests/Differential, from Tests/Shared/Apple/AppStore/Verification.
    private var script: URL {
        var directory = URL(fileURLWithPath: #filePath)
        for _ in 0..<5 { directory.deleteLastPathComponent() }
        return directory.appendingPathComponent("Differential/apple_verdicts.py")
    }

    private func settings() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.beginArray("roots")
        writer.element(Data(material.authority.root).base64EncodedString())
        writer.endArray()
        writer.beginArray("apps")
        for (bundleId, appAppleId, environment) in [
            (ForgeryMaterial.bundleId, ForgeryMaterial.appAppleId, "Production"),
            (ForgeryMaterial.bundleId, ForgeryMaterial.appAppleId, "Sandbox"),
            (ForgeryMaterial.productionOnly, 77, "Production"),
        ] {
            writer.beginObject()
            writer.member("bundleId", bundleId)
            writer.member("appAppleId", appAppleId)
            writer.member("environment", environment)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}
