import AppStore
import Foundation
import Signatures

extension ForgeryMaterial {
    /// Genuine signatures at the wrong time.
    func times() throws -> [Forgery] {
        let undated = envelope { $0.signedDate = nil }
        return [
            Forgery(
                "signed after the leaf had expired", .expiredAtSigning,
                try underTrustedRoot(leaf: { $0.notAfter = days(-1) })),
            Forgery(
                "signed before the leaf was valid", .notYetValid, try underTrustedRoot(leaf: { $0.notBefore = days(1) })
            ),
            Forgery(
                "dated back to before the leaf was valid", .notYetValid,
                try underTrustedRoot(
                    payload: envelope { $0.signedDate = days(-200) }, leaf: { $0.notBefore = days(-100) })),
            Forgery(
                "signed after the intermediate had expired", .expiredAtSigning,
                try underTrustedRoot(intermediate: { $0.notAfter = days(-1) })),
            Forgery(
                "signed before the intermediate was valid", .notYetValid,
                try underTrustedRoot(intermediate: { $0.notBefore = days(1) })),
            Forgery(
                "undated, under a leaf that has expired", .expiredAtSigning,
                try underTrustedRoot(payload: undated, leaf: { $0.notAfter = days(-1) })),
            Forgery(
                "undated, under a leaf that is not valid yet", .notYetValid,
                try underTrustedRoot(payload: undated, leaf: { $0.notBefore = days(1) })),
            Forgery(
                "a leaf that is never valid", .expiredAtSigning,
                try underTrustedRoot(leaf: {
                    $0.notBefore = days(-10)
                    $0.notAfter = days(-20)
                })),
            Forgery("dated two days ahead", .notYetValid, try signed(envelope { $0.signedDate = days(2) })),
            Forgery("dated 25 hours ahead", .notYetValid, try signed(envelope { $0.signedDate = days(25 / 24) })),
            Forgery(
                "dated a thousand years ahead", .notYetValid, try signed(envelope { $0.signedDate = days(365_000) })),
            Forgery("dated 401 days back", .expiredAtSigning, try signed(envelope { $0.signedDate = days(-401) })),
            Forgery(
                "dated 1970", .expiredAtSigning, try signed(envelope { $0.signedDate = Date(timeIntervalSince1970: 0) })
            ),
            Forgery("dated before Christ", .expiredAtSigning, try signed(envelope { $0.signedDate = .distantPast })),
        ]
    }
}
