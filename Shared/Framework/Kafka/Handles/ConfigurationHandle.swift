import CRDKafka

/// Owns an `rd_kafka_conf_t` until a client takes it.
final class ConfigurationHandle {
    private var pointer: OpaquePointer?

    /// - Throws: `KafkaConfigurationError` with every setting that librdkafka rejected, without values if one of them
    ///   may be a secret.
    init(settings: [String: String]) throws {
        let pointer = rd_kafka_conf_new()
        self.pointer = pointer
        var text = [CChar](repeating: 0, count: 512)
        var problems: [String] = []
        for (name, value) in settings.sorted(by: { $0.key < $1.key }) {
            guard rd_kafka_conf_set(pointer, name, value, &text, text.count) != RD_KAFKA_CONF_OK else { continue }
            let isSecret = KafkaConfiguration.isSecret(name)
            problems.append("\(name) cannot be set\(isSecret ? "" : " to \"\(value)\""): \(swiftText(text))")
        }
        guard problems.isEmpty else { throw KafkaConfigurationError(problems: problems) }
    }

    func withPointer<Result>(_ body: (OpaquePointer?) throws -> Result) rethrows -> Result {
        try body(pointer)
    }

    /// The caller owns it now: called after `rd_kafka_new` has succeeded, which takes it.
    func release() { pointer = nil }

    deinit {
        if let pointer { rd_kafka_conf_destroy(pointer) }
    }
}

/// The string that C wrote into a buffer, up to its zero.
func swiftText(_ buffer: [CChar]) -> String {
    String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
