import Digests
import Signatures

/// What one sign-in sends to the provider and expects back, all made from one secret of the browser: nothing has to be
/// stored before the person comes back.
package struct Attempt: Sendable {
    /// Comes back with the code: the browser that ends the sign-in is the one that began it.
    package let state: String
    /// Comes back within the token: it was made for this sign-in.
    package let nonce: String
    /// Proves that the code is used by whom it was made for (RFC 7636).
    package let verifier: String

    /// - Parameters:
    ///   - secret: of the browser, in its cookie.
    ///   - key: of the service, so that the cookie alone tells nothing.
    package init(secret: String, key: MessageAuthentication) {
        func derived(_ purpose: String) -> String {
            String(
                decoding: Base64.encode(
                    key.code(of: [Array("sign-in \(purpose):".utf8)[...], Array(secret.utf8)[...]]), .url),
                as: UTF8.self)
        }
        state = derived("state")
        nonce = derived("nonce")
        verifier = derived("verifier")
    }

    /// Of the method S256.
    package var challenge: String {
        String(decoding: Base64.encode(SHA256Hash.digest(Array(verifier.utf8)), .url), as: UTF8.self)
    }
}
