import Development
import Foundation
import Signatures

/// Only the issuer's own response is accepted as an answer about a certificate, and the simulator's responder answers every
/// request.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let scene = Scene.shared
    if let answer = try? scene.request.answer(in: bytes, now: scene.now) {
        precondition(answer.standing == scene.standing, "an answer that was not signed")
    }
    let response = try? scene.responder.response(to: bytes, now: scene.now) { _ in .unknown }
    precondition(response != nil, "a request without a response")
    return 0
}

private struct Scene: Sendable {
    static let shared = Scene()

    let request: OCSPRequest
    let responder: OCSPResponder
    let now: Date
    let standing: OCSPAnswer.Standing

    init() {
        let directory = URL(filePath: ProcessInfo.processInfo.environment["FUZZ_SEEDS"] ?? "seeds")
        do {
            let authority = try DevelopmentAuthority(loadingFrom: directory.appending(path: "authority"))
            let leaf = try Certificate(der: authority.leaf)
            now = leaf.notBefore.addingTimeInterval(401 * 86_400)
            // As Seeds wrote it: only this says "revoked".
            standing = .revoked(now, reason: "unspecified")
            request = try OCSPRequest(
                about: leaf, issuedBy: authority.intermediateIssuer.certificate, nonce: Array(1...16))
            responder = OCSPResponder(authorities: [.init(authority.intermediateIssuer)])
        } catch {
            preconditionFailure("FUZZ_SEEDS must name a directory that fuzz-seeds wrote: \(error)")
        }
    }
}
