import Hummingbird

/// Hummingbird exports the list of fields, not the field.
typealias HTTPField = HTTPFields.Element

extension HTTPField.Name {
    static let idempotencyKey = named("Idempotency-Key")
    /// That the answer is a stored one.
    static let idempotencyReplayed = named("Idempotency-Replayed")
    static let link = named("Link")
    /// Of an upload's answer and of a read after it.
    static let readAfter = named("Storekeeper-Read-After")
    static let prefer = named("Prefer")
    static let preferenceApplied = named("Preference-Applied")
    static let rateLimit = named("RateLimit")
    static let rateLimitPolicy = named("RateLimit-Policy")
    static let traceparent = named("traceparent")

    private static func named(_ name: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else { preconditionFailure("\(name) is not a header's name") }
        return name
    }
}
