import Development
import Foundation
import Signatures

/// Answers OCSP requests: as the authority does, or as the behavior says.
struct Responder: Sendable {
    private let honest: OCSPResponder
    private let impostor: OCSPResponder
    private let names: [String: String]
    private let list: @Sendable () -> String

    /// - Parameters:
    ///   - authority: its leaf and intermediate can be asked about.
    ///   - impostor: signs where the behavior says so.
    ///   - list: the text of the revocation list, read at every request.
    init(
        authority: DevelopmentAuthority, impostor: DevelopmentAuthority, list: @escaping @Sendable () -> String
    ) throws {
        let issuers = [authority.intermediateIssuer, authority.rootIssuer]
        honest = OCSPResponder(authorities: issuers.map { .init($0) })
        self.impostor = OCSPResponder(authorities: issuers.map { .init($0, signer: impostor.intermediateIssuer) })
        names = [
            "leaf": try Certificate(der: authority.leaf).serialNumber,
            "intermediate": authority.intermediateIssuer.certificate.serialNumber,
        ]
        self.list = list
    }

    /// The body of the answer.
    func answer(to request: [UInt8], behavior: ResponderBehavior, now: Date) throws -> [UInt8] {
        let revoked = RevocationList(list(), names: names, now: now)
        switch behavior {
        case .honest:
            return try honest.response(to: request, now: now, standing: revoked.standing)
        case .ignorant:
            return try honest.response(to: request, now: now) { _ in .unknown }
        case .expired:
            return try honest.response(to: request, now: now.addingTimeInterval(-86_400), standing: revoked.standing)
        case .impostor:
            return try impostor.response(to: request, now: now, standing: revoked.standing)
        case .forgetful:
            var forgetful = honest
            forgetful.repeatsNonce = false
            return try forgetful.response(to: request, now: now, standing: revoked.standing)
        case .busy: return try OCSPResponder.busy()
        case .redirecting: return []
        case .endless: return [UInt8](repeating: 0x30, count: 1 << 20)
        case .babbling: return Array("certainly".utf8)
        }
    }
}
