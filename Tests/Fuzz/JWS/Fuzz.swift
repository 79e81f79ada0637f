import AppStore
import Development
import Foundation
import Signatures

/// Nothing that was not signed is ever accepted as signed, wherever in the text the bytes are.
///
/// The first byte decides where: as the whole text; as a header under a payload; as the JSON of a header, encoded for it; as
/// payload or signature under a genuine header.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let jws = Scene.shared.text(input) else { return 0 }
    let bytes = Array(input.dropFirst())
    if let split = CompactJWS(jws[...]) {
        precondition(
            Array(split.header) + Scene.dot + split.payload + Scene.dot + split.signature == jws,
            "a split that loses bytes")
    }
    for alphabet in [Base64.Alphabet.url, .standard] {
        if let decoded = Base64.decode(bytes[...], alphabet) {
            precondition(Base64.encode(decoded, alphabet) == bytes, "two texts of the same bytes")
        }
    }
    guard !Scene.shared.signed.contains(jws) else { return 0 }
    for outcome in Scene.shared.rejections(of: jws) {
        guard let rejection = outcome else { preconditionFailure("accepted what was not signed") }
        precondition(!rejection.reason.isProven, "\(rejection.reason) of what was not signed")
        precondition(rejection.message.utf8.count <= VerificationFailure.maximumMessageBytes)
    }
    return 0
}

/// A verifier that trusts the authority of the seeds, and what that authority signed.
private struct Scene: Sendable {
    static let shared = Scene()

    static let dot = [UInt8(ascii: ".")]

    /// Every signed text of the seeds, whatever else is wrong with it.
    private(set) var signed: Set<[UInt8]> = []
    private let verifier: SignedDataVerifier
    private let header: [UInt8]
    private let payload: [UInt8]
    private let signature: [UInt8]
    private let now: Date

    init() {
        let directory = URL(filePath: ProcessInfo.processInfo.environment["FUZZ_SEEDS"] ?? "seeds")
        do {
            let authority = try DevelopmentAuthority(loadingFrom: directory.appending(path: "authority"))
            verifier = SignedDataVerifier(
                trust: TrustStore(roots: [try Certificate(der: authority.root)]),
                apps: AppRegistry(apps: [AcceptedApp(bundleId: "com.example.reader", appAppleId: 1_234_567_890)]))
            now = try Certificate(der: authority.leaf).notBefore.addingTimeInterval(401 * 86_400)
            let genuine = Array(try Data(contentsOf: directory.appending(path: "genuine.jws")))
            let parts = genuine.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            (header, payload, signature) = (Array(parts[0]), Array(parts[1]), Array(parts[2]))
            precondition(rejections(of: genuine)[0] == nil, "the genuine one is rejected")
            let files = try FileManager.default.contentsOfDirectory(
                at: directory.appending(path: "jws"), includingPropertiesForKeys: nil)
            for file in files where file.lastPathComponent.hasPrefix("seed-") {
                guard let jws = text(Array(try Data(contentsOf: file))) else { continue }
                if rejections(of: jws).contains(where: { $0?.reason.isProven ?? true }) { signed.insert(jws) }
            }
        } catch {
            preconditionFailure("FUZZ_SEEDS must name a directory that fuzz-seeds wrote: \(error)")
        }
    }

    /// The text of an input.
    func text(_ input: [UInt8]) -> [UInt8]? {
        guard let place = input.first else { return nil }
        let bytes = Array(input.dropFirst())
        let rest = Self.dot + Array("e30".utf8) + Self.dot + [UInt8](repeating: UInt8(ascii: "A"), count: 86)
        return switch place % 5 {
        case 0: bytes
        case 1: bytes + rest
        case 2: Base64.encode(bytes, .url) + rest
        case 3: header + Self.dot + bytes + Self.dot + signature
        default: header + Self.dot + payload + Self.dot + bytes
        }
    }

    func rejections(of jws: [UInt8]) -> [VerificationFailure?] {
        func rejection<Value>(_ result: Result<Value, VerificationFailure>) -> VerificationFailure? {
            if case .failure(let rejection) = result { rejection } else { nil }
        }
        return [
            rejection(verifier.notification(jws, now: now)), rejection(verifier.transaction(jws, now: now)),
            rejection(verifier.appTransaction(jws, now: now)),
        ]
    }
}
