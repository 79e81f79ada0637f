import Hummingbird

/// What every answer says to the browser: nothing from elsewhere, nothing inline, no frames, nothing kept.
enum SecurityHeaders {
    static let policy = [
        "default-src 'none'", "style-src 'self'", "script-src 'self'", "img-src 'self'", "connect-src 'self'",
        "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'", "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ].joined(separator: "; ")

    private static let all: [(name: String, value: String)] = [
        ("Content-Security-Policy", policy),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cross-Origin-Embedder-Policy", "require-corp"),
        ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
        ("Cache-Control", "no-store"),
        ("X-Robots-Tag", "noindex"),
    ]

    /// Adds those that the answer does not set itself.
    static func add(to headers: inout HTTPFields, isSecure: Bool) {
        let transport = isSecure ? [("Strict-Transport-Security", "max-age=31536000")] : []
        for (name, value) in all + transport {
            guard let field = HTTPField.Name(name), headers[field] == nil else { continue }
            headers[field] = value
        }
    }
}
