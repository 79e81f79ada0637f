import Signatures

/// Texts with the form of what Apple signs, under no valid signature.
public enum SignedSample {
    /// The text of one segment of a JWS.
    public static func segment(_ text: some Sequence<UInt8>) -> String {
        String(decoding: Base64.encode(Array(text), .url), as: UTF8.self)
    }

    /// Any bytes.
    public static func random(_ count: Int, _ generator: inout SeededGenerator) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    /// Three signed objects under one long header, like Apple's.
    public static func likeApple(seed: UInt64, header: [UInt8]? = nil) -> [UInt8] {
        var generator = SeededGenerator(state: seed)
        let header = segment(header ?? random(4500, &generator))
        func sign(_ payload: String) -> String {
            "\(header).\(segment(payload.utf8)).\(segment(random(64, &generator)))"
        }
        let transaction = sign("{\"transactionId\":\"\(seed)\",\"price\":9990}")
        let renewal = sign("{\"autoRenewStatus\":1,\"x\":\"a.b.c\"}")
        let parts = "\"signedTransactionInfo\":\"\(transaction)\",\"signedRenewalInfo\":\"\(renewal)\""
        return Array(sign("{\"data\":{\(parts)},\"v\":\"2.0\"}").utf8)
    }
}
