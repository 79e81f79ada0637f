/// The beginning of a receiver's answer, for people who look for a fault.
package enum AnswerExcerpt {
    /// The most bytes that are read of an answer.
    package static let limit = 1024
    /// Fewer are kept, so that what begins in them and must not be stored was read whole.
    private static let kept = 960

    /// Valid text without control characters, in which nothing is left of what must not be stored: signatures, secrets, the
    /// account. A receiver may send back what it got.
    /// - Parameter secrets: texts that were sent or that sign.
    /// - Returns: nil where the answer was empty.
    package static func text(_ bytes: some Collection<UInt8>, without secrets: [String]) -> String? {
        guard !bytes.isEmpty else { return nil }
        // By scalars: a combining character behind a secret would make its last character another one.
        var scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars
        for secret in secrets where !secret.isEmpty {
            for form in [secret, secret.uppercased()] {
                scalars = scalars.replacing(form.unicodeScalars, with: "…".unicodeScalars)
            }
        }
        // A secret of an older generation, or one of another program.
        let text = String(scalars).replacing(
            /whsec_[A-Za-z0-9+\/=]*/.matchingSemantics(.unicodeScalar), with: "whsec_…"
        ).replacing(/v1,[A-Za-z0-9+\/=]{20,}/.matchingSemantics(.unicodeScalar), with: "v1,…")
        let visible = String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.value < 0x20 || 0x7f...0x9f ~= $0.value ? " " : $0 }))
        return visible.isEmpty ? nil : String(decoding: visible.utf8.prefix(kept), as: UTF8.self)
    }
}
