import Development
import Foundation
import Signatures

/// No certificate with a changed byte is ever part of a chain, and every certificate that is read has readable properties.
///
/// The input is three certificates, each behind its length in two bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let certificates = read(Array(UnsafeBufferPointer(start: start, count: count)))
    for certificate in certificates { look(at: certificate) }
    guard certificates.count == 3 else { return 0 }
    let scene = Scene.shared
    let outcome = try? scene.validator.validate(
        leaf: certificates[0], intermediate: certificates[1], offered: certificates[2])
    guard case .success(let chain)? = outcome else { return 0 }
    precondition(scene.issued.isSuperset(of: [chain.leaf, chain.intermediate]), "a certificate that was not issued")
    return 0
}

private func read(_ input: [UInt8]) -> [Certificate] {
    var rest = input[...]
    var certificates: [Certificate] = []
    for _ in 0..<3 where rest.count >= 2 {
        let length = Int(rest.removeFirst()) << 8 | Int(rest.removeFirst())
        if let certificate = try? Certificate(der: Array(rest.prefix(length))) { certificates.append(certificate) }
        rest = rest.dropFirst(length)
    }
    return certificates
}

private func look(at certificate: Certificate) {
    precondition((try? Certificate(der: certificate.der)) == certificate)
    _ = (certificate.subject, certificate.issuer, certificate.serialNumber, certificate.keyKind, certificate.keyUsage)
    _ = (certificate.isAuthority, certificate.isForDevelopment, certificate.ocspAddresses, certificate.p256PublicKey)
    _ = certificate.hasExtension(AppleExtension.leaf)
    precondition((try? Certificate.all(in: Array(certificate.pem.utf8))) == [certificate], "PEM that is not the same")
}

private struct Scene: Sendable {
    static let shared = Scene()

    let validator: ChainValidator
    /// Every certificate of the seeds.
    let issued: Set<Certificate>

    init() {
        let directory = URL(filePath: ProcessInfo.processInfo.environment["FUZZ_SEEDS"] ?? "seeds")
        do {
            let authority = try DevelopmentAuthority(loadingFrom: directory.appending(path: "authority"))
            validator = ChainValidator(trust: TrustStore(roots: [try Certificate(der: authority.root)]))
            let files = try FileManager.default.contentsOfDirectory(
                at: directory.appending(path: "certificates"), includingPropertiesForKeys: nil)
            issued = Set(
                try files.filter { $0.lastPathComponent.hasPrefix("seed-") }
                    .flatMap { read(Array(try Data(contentsOf: $0))) })
        } catch {
            preconditionFailure("FUZZ_SEEDS must name a directory that fuzz-seeds wrote: \(error)")
        }
    }
}
